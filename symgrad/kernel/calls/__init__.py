"""How a kernel is called: directly, in threads, from XLA, and what is checked before."""
