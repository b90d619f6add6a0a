"""Facts about the values of a graph: signs, intervals, integer ranges, point masses, definite matrices.

Open `inference.py` first. Facts import no rules.
"""
