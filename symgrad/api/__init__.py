"""The public functions and classes: expressions, programs, and the verbs on them. Open `handles/expr.py` first.

The packages below work on nodes and must not import this one.
"""
