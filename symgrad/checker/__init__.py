"""Check proof files: replay a proof or a refutation, independently of the code that found it.

Open `check.py` first. The checker imports no part of symgrad except `symgrad.support`: no graph, no rewrite rules, no
derivative rules.
"""
