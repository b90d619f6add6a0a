"""The checks of `symgrad.lint`, one for each module; `symgrad.analysis.stop_gradient.table` lists them."""
