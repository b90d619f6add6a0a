"""Code of plain NumPy as formulas entry by entry: it is run on arrays whose entries are formulas."""
