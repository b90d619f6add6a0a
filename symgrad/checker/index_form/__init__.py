"""Prove statements about array programs for every size of their axes, in index notation.

Open `proofs.py` first, then `forms/terms.py`. Uses nothing of the extension field but its exception `GiveUp`.
"""
