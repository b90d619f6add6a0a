"""Search for proofs and witnesses of claims, and explain wrong ones; `symgrad.checker` checks the results.

Open `decide` first. The package must not import `symgrad.api`.
"""
