"""Trace code of plain NumPy on arrays whose entries are formulas. Open `tracing.py` first."""
