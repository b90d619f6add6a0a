"""Vectors of doubles: instructions, error-free arithmetic, table lookup, slow paths; open `lanes.py` first."""
