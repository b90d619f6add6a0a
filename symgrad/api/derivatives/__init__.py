"""The derivative verbs. Open `differentiate.py` first."""
