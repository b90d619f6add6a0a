"""From the outputs of a graph to machine code: forms, lowering, LLVM, C, GPU, kernels, and the loader."""
