"""Kernels that were saved to a file, loaded again: neither SymPy nor the formulas are needed.

`import symgrad.runtime` takes little more than NumPy and llvmlite do; `symgrad.load` is the same function.
"""

from symgrad.compiler.loader.loading import load

__all__ = ["load"]
