"""From IR text to machine code: open `jit.py` first.

`binding.py` wraps llvmlite, `target.py` and `platforms.py` describe processors, `disk_cache.py` caches machine code,
and the other modules find external functions of C, BLAS and SciPy.
"""
