"""Expressions and programs: operators, methods, forms. Open `expr.py` first."""
