"""NumPy's and SciPy's functions on graphs. Open `calls.py` first."""
