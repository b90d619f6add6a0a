"""Elementwise programs: repetition, and the order of equations."""
