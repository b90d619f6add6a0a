"""Rewrite rules as data, phase by phase. Open `canonical.py` first. Rows import only ops and `rewrite/rule.py`."""
