"""Functions of expressions, under their names in NumPy and SciPy; symbols; ops of one's own."""
