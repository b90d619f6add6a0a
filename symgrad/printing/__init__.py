"""Render graphs, derivations, verdicts and findings as text, LaTeX, source, HTML and pictures.

Open `texts/derivation.py` and `latex/expressions.py` first. The package must not import `symgrad.api`.
"""
