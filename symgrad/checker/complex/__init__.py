"""Check statements about complex numbers, with principal branches.

Open `check.py` first. The checks for real numbers do not depend on this package, except for `symgrad.checker.check`.
"""
