"""Expressions and programs as users hold them: operators, methods, forms. Open `expr.py` first."""
