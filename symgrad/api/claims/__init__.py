"""Decide whether formulas are equal: `verify`, `equivalent`, `check_domain`, `find_mistake`. Open `verify.py` first."""
