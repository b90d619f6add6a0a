"""The checks of `symgrad.lint`, a file each; the table of them is `symgrad/analysis/stop_gradient/table.py`."""
