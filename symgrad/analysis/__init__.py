"""What a gradient does: why it is what it is (`explain/`), its stop_gradients, its expectation and variance."""
