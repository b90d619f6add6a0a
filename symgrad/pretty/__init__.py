"""Formulas in the names and number spellings of their program. Start at `named_derivatives` and `simplify`."""
