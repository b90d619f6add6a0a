"""Programs as sums of products of noisy atoms (`monomials`), by one rule for each op (`rules`)."""
