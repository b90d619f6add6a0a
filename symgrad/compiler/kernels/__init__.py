"""Kernels: NumPy ufuncs around machine code, and files of it. Open `compile.py` first."""
