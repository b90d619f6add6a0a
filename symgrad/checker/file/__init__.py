"""Read proof files, validate them against the schema, and print the claim of a proof file.

Open `reader.py` first. This package imports nothing that checks a proof.
"""
