"""Formulas with the names and the number spellings of their program. Start at `named_derivatives` and `simplify`."""
