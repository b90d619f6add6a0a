"""What stop_gradients do in a program, and what they should: what is wrong with one, and where one belongs."""
