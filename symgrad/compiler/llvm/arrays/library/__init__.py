"""Ops with loops of their own: scans, matrix products, LU factors, the matrix exponential.

Open `scans_and_products.py` first.
"""
