"""Facts about the values of a graph: signs, intervals, integer ranges, definite matrices.

Open `inference.py` first.
"""
