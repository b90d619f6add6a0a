"""Machine code of array programs: open `array_code.py` first.

`nests/` writes loop nests, `library/` writes the ops with loops of their own, and `driver.py` the loop that NumPy
calls. The package must not import `llvm/elementwise`.
"""
