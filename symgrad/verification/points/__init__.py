"""Exact points at which a statement is tried."""
