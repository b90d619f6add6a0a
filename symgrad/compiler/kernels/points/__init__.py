"""Kernels at one point, as functions of numbers. Open `functions.py` first."""
