"""Errors, positions in texts, files, logs, progress, traversals and the table of public names, without mathematics.

Open `errors.py` first. This package imports no other package of symgrad.
"""
