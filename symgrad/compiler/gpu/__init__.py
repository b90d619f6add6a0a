"""Kernels on GPUs and for WebAssembly: the code (`code/`), and how it is called (`calls/`)."""
