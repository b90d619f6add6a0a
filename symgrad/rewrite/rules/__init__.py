"""Rewrite rules as data, phase by phase. Open `canonical.py` first. A row imports ops and `rewrite/rule.py` alone."""
