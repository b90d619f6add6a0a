"""From a graph to the order in which it is computed; neutral as to the machine."""
