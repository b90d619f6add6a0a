"""Write NumPy source. Open `source` first."""
