"""Whether noise enters a gradient, by which path, and the evidence."""
