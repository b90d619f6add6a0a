"""Import functions of NumPy and SciPy as programs. Open `function.py` first."""
