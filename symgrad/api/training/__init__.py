"""Minimise losses: quasi-Newton searches, and training by stochastic gradients. Open `minimize.py` first."""
