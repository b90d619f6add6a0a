"""Render graphs, derivations, verdicts and findings as text, LaTeX, source, HTML and pictures.

Open `texts/derivation` and `latex/expressions` first. The package must not import `symgrad.api`.
"""
