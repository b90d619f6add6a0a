"""Moments of programs on arrays."""
