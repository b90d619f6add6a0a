"""Explain derivatives: the steps of a backward pass, and lessons. Open `explain.py` first."""
