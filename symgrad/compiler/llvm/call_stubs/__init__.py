"""Calls without NumPy's machinery: from Python directly, in teams of threads, from XLA."""
