"""The callable: a NumPy ufunc around machine code, and object files."""
