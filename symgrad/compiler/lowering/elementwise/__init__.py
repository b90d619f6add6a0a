"""Elementwise programs: loop rerolling, and the order of equations. Open `schedule.py` first."""
