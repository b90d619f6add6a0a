"""Compile expressions to kernels, and sum kernels over data. Open `compile.py` first."""
