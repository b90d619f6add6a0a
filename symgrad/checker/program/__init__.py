"""Programs of the checker: steps, lengths of axes, and forward derivatives.

Open `steps.py` first. Imports nothing that computes values.
"""
