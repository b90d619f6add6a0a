"""Verdicts on noise: whether a random input enters a gradient, by which path, and the evidence. Start at `verdict`."""
