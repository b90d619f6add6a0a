"""NumPy source."""
