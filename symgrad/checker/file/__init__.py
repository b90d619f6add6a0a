"""Read proof files, validate them against the schema, and print the claim of one.

Open `reader.py` first. Imports nothing that checks a proof.
"""
