"""The public functions and classes: expressions, programs, and functions of them. Open `handles/expr.py` first.

The packages below work on nodes and must not import this one.
"""
