"""Operations of torch as expressions, one module per group; `../table.py` registers them."""
