"""Expectations of functions of one random input, one rule per family of distributions; `table` lists them."""
