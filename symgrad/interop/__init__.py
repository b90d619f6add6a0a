"""Import programs from other frameworks (`importers/`), and export programs to them (`exporters/`).

Open `importers/program.py` or `exporters/callee.py` first. The package must not import `symgrad.apps`.
"""
