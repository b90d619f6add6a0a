"""From a schedule to LLVM IR and machine code.

Open `elementwise/emit.py` (pointwise programs) or `arrays/array_code.py` (array programs) first; `entries/` runs the
code of the former on small arrays. Only `engine/binding.py` imports llvmlite. The package imports neither kernels nor
the API.
"""
