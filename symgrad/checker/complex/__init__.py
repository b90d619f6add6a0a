"""Statements about complex numbers."""
