"""Moments of programs on arrays: sums of contractions (`products`), and their expectations (`forms`)."""
