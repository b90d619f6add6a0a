"""How the instructions of equations are written, and what they call."""
