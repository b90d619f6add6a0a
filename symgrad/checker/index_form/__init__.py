"""Prove statements about array programs for every size of their axes, in index notation.

Open `proofs.py` first, then `forms/terms.py`. Of the extension field, this package uses only the exception `GiveUp`.
"""
