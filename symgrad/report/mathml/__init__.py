"""Conversion of the LaTeX that symgrad prints to MathML. Start at `convert.mathml`."""
