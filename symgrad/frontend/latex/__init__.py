"""Formulas in LaTeX, read into the nodes that the program notation makes."""
