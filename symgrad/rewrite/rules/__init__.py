"""The rows: laws as data, phase by phase."""
