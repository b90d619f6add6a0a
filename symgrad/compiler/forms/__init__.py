"""Choose the form in which a kernel computes each output, before the nodes are lowered."""
