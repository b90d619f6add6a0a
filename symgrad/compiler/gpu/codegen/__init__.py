"""Code generation for a grid of threads on a GPU (PTX) and for WebAssembly: open `grid_module.py` first."""
