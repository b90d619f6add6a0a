"""Elementwise code for machines other than this process's: grids of threads of a GPU, and WebAssembly."""
