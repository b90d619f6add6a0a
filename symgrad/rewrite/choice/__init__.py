"""The search for stable forms, by how many digits are lost at sample points."""
