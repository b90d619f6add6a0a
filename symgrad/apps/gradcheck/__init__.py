"""Check hand-written gradient code against the exact derivative of its function. Open `verify.py` first."""
