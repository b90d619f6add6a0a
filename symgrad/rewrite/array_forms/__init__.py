"""The normal form of contractions, inverses, and ops that move entries. Open `tensor.py` first."""
