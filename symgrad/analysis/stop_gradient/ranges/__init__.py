"""Checks for values and gradients that leave the range of floats."""
