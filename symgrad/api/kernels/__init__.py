"""From expressions to kernels, and sums over data."""
