"""Kernels as C99: the instructions that LLVM gets, written as statements."""
