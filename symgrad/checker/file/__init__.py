"""Proof files: their structure, how they are read, and what one claims, as text."""
