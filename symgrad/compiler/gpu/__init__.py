"""Elementwise kernels for GPUs and for WebAssembly: code generation (`codegen/`) and calls on GPUs (`launch/`).

Open `codegen/grid_module.py` first. The package must not import `compiler.kernels`.
"""
