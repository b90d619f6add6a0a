"""What stop_gradients and random inputs do in a program, and what they should."""
