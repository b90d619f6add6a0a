"""Turn records into reports, one file for each kind of record."""
