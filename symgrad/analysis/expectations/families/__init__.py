"""Expectations of functions of one random input, one rule for each family of distributions; `table` lists the rules."""
