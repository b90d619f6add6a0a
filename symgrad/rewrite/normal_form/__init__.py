"""The normal form of sums and products. Open `protocols.py` first."""
