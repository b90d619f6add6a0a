"""Import functions and modules of torch as programs. Open `program.py` first, then `trace.py` and `graph.py`."""
