"""The code of array programs."""
