"""Random cases of many kinds, the odd ones that people and adversaries bring: `python -m tests.fuzz --help`.

A kind is a function that draws one case from a `random.Random` and checks it; it stands in a module of `kinds/`, which
is found by being there. CI runs the first cases of each (`test_kinds.py`), `make fuzz MINUTES=60` goes on from there.
"""
