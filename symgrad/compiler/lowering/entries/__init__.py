"""Small arrays as scalar equations, one for each entry. Open `program.py` first."""
