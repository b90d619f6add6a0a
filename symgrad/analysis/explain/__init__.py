"""Explanations of a gradient: the rules applied, the noise that enters and its path, the reason for every zero.

Start at `derivation.explain`. Reads graphs, traces and verdicts; prints nothing, and imports nothing of printing.
"""
