"""Calls of kernels on NVIDIA's GPUs: open `cuda_kernel.py` first."""
