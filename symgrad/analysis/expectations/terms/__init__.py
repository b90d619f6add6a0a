"""Programs as sums of products of noisy atoms (`monomials`), by one rule per op (`rules`)."""
