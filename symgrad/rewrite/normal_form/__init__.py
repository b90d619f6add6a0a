"""The normal form of sums and products."""
