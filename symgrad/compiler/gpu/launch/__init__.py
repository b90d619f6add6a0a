"""Kernels for GPUs and for WebAssembly."""
