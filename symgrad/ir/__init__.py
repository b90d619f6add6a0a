"""The graph of equations, the op record, types, printing and the door to SymPy."""
