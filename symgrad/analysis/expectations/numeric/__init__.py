"""Moments as numbers: quadrature, and draws."""
