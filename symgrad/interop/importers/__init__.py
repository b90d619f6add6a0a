"""Import functions of other frameworks as programs: one package per framework, imported on demand.

Open `program.py` first; `custom_pullback.py`, `refusals.py` and `specs.py` are shared by all frameworks.
"""
