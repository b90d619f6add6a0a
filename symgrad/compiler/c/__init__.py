"""Write kernels as C99: translate the instructions for LLVM to statements. Open `source.py` first."""
