"""Errors, positions in texts, files, logs, progress and the table of public names: nothing of mathematics.

Open `errors.py` first. Imports nothing of the rest.
"""
