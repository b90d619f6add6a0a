"""Where stop_gradients may stand: the derivative paths of a program, what is left of them, and exact points."""
