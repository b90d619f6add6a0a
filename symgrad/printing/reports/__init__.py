"""Convert records into reports, with one file for each kind of record."""
