"""Evaluate programs at exact points in ball arithmetic (real intervals with a midpoint and a radius).

Open `programs.py` first. Of the checker, this package imports only programs and numbers.
"""
