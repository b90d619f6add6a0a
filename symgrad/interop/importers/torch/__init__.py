"""Functions and modules of torch as programs."""
