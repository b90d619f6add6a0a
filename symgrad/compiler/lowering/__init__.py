"""Lower a graph to an order of computation, independent of the machine."""
