"""Evaluate programs at exact points in ball arithmetic (real intervals with a midpoint and a radius).

Open `programs.py` first. Imports nothing of the other parts of the checker but programs and numbers.
"""
