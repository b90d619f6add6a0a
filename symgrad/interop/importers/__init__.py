"""Import functions of other frameworks as programs: one package for each framework, imported on demand.

Open `program.py` first; all frameworks share `custom_pullback.py`, `refusals.py` and `specs.py`.
"""
