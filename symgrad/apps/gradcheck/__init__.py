"""Code that computes gradients, held against the derivative of what it is said to differentiate."""
