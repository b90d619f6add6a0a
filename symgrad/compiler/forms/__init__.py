"""Which of several equal forms a kernel computes: of nodes, before they are lowered."""
