"""Run functions of NumPy on expressions: their formulas, and functions for their gradients.

Open `trace.py` first. `rebinding.py` copies the functions of the user with other functions of NumPy.
"""
