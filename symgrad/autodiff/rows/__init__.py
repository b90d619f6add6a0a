"""Rows of arrays: formulas of one row, sums over rows, independent rows, and gathered rows."""
