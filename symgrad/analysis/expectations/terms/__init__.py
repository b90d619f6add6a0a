"""Programs as sums of products of noisy parts."""
