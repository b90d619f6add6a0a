"""Edits of formulas that make, or mend, a mistake."""
