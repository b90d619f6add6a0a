"""Kernels: NumPy ufuncs around machine code, and files that contain the code. Open `compile.py` first."""
