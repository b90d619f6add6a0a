"""Rules: which equation of a document defines, holds, gives a value, or is a claim. Open `definitions.py` first."""
