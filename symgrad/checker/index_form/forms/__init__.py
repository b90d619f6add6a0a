"""Sums of products of indexed factors, and the laws by which they are taken apart."""
