"""Read formulas in LaTeX into the same nodes that the program notation gives."""
