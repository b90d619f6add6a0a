"""Programs of the checker: steps, lengths of axes, and forward derivatives.

Open `steps.py` first. This package imports nothing that computes values.
"""
