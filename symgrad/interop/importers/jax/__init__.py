"""Functions of JAX as programs."""
