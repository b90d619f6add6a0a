"""A kernel at one point, for those who have no arrays."""
