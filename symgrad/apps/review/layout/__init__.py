"""Where formulas stand in a document, what is prose, and how they are cut into sides."""
