"""Load kernels from files. Open `loading.py` first.

This package must not import SymPy or derivations: `import symgrad.runtime` takes little longer than NumPy and llvmlite.
`symgrad.load` is the same function.
"""

from symgrad.compiler.loader.loading import load

__all__ = ["load"]
