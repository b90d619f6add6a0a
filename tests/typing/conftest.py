"""The script is for checkers: half of its lines are wrong."""

collect_ignore = ["script.py"]
