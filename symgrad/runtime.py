"""Load kernels that were saved to a file; neither SymPy nor the formulas are needed.

`import symgrad.runtime` takes little longer than importing NumPy and llvmlite; `symgrad.load` is the same function.
"""

from symgrad.compiler.loader.loading import load

__all__ = ["load"]
