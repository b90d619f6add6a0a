"""Operations of torch as expressions, one module for each group; `../table.py` registers them."""
