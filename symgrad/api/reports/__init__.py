"""Turn results into reports, one module for each kind of result."""
