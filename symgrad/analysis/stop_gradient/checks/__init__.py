"""The checks of `symgrad.lint`, one per module; `symgrad.analysis.stop_gradient.table` lists them."""
