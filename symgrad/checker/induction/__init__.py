"""Claims by which values of recurrences are equal: by induction, first values and one step.

Open `claims.py` first.
"""
