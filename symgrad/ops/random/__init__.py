"""Random inputs: one record for each family of distributions. Open `family.py` first."""
