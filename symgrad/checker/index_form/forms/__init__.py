"""Normal forms in index notation: sums of products of indexed factors, and the laws that simplify them.

Open `terms.py` first, then `product_rules.py`.
"""
