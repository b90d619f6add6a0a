"""Formulas as quotients of polynomials in their parts: like terms, common factors and common denominators."""
