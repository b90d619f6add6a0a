"""The graph of equations: nodes, records of ops, types, sizes and values.

Open `graph.py` first, then `op.py`. This package imports only `symgrad.support`, and no ops.
"""
