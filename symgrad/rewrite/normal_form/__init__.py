"""The normal form of sums and products. Open `interfaces.py` first."""
