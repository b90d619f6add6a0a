"""Functions that differentiate. Open `differentiate.py` first."""
