"""MathML of the LaTeX that symgrad prints."""
