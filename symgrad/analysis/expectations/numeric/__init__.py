"""Numerical moments: quadrature and sampling."""
