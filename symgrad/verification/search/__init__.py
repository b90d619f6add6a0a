"""Search for proofs and for points that refute; open `prove` and `refute` first."""
