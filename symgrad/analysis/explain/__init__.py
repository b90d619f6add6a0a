"""Explanations of a gradient: the rules applied, the noise that enters and its path, and the reason for every zero.

Start at `derivation.explain`. The package reads graphs, traces and verdicts; it prints nothing, and imports no printing
module.
"""
