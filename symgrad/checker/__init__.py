"""The checker: it replays proofs, and nothing of symgrad that finds them or that knows how to differentiate."""
