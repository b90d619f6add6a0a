"""The search for proofs and for points that refute."""
