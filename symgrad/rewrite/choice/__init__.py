"""Search for stable forms: compare the digits that forms lose at sample points."""
