"""The code of elementwise kernels."""
