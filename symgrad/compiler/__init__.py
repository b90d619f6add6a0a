"""Compile the outputs of a graph to machine code: forms, lowering, LLVM, C, GPU, kernels, loader.

Open `kernels/compile.py` first. This package must not import `symgrad.api`.
"""
