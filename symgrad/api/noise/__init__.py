"""Audit stop_gradients and random inputs of a program; compare gradient estimators. Open `audit.py` first."""
