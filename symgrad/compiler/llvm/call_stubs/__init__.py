"""Machine code through which kernels are called without NumPy's dispatch: open `array_call.py` first.

There are stubs for Python callers (with arrays or with numbers), for teams of threads, for XLA and for SciPy;
`object_layout.py` has the memory layout of Python's and NumPy's objects.
"""
