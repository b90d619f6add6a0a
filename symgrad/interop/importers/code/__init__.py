"""Load a function of a Python file, import it as a program, and check its source.

Open `function_loader.py` first, then `function_program.py` and `checks.py`.
"""
