"""Functions of expressions, under their names in NumPy and SciPy; symbols; custom ops. Open `numpy_names.py` first."""
