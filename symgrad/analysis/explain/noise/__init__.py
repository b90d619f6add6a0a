"""Verdicts on noise: whether a random input enters a gradient, its path, and the evidence. Start at `verdict`."""
