"""Integrals, limits and values between bounds in formulas: where they are written, and what they are."""
