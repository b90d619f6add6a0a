"""The graph of equations: nodes, the record of an op, types, sizes and values."""
