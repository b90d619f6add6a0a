"""How a kernel is called: directly, in threads, and what is checked before."""
