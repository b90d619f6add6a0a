"""Ops with loops of their own: products, factors and functions of matrices."""
