"""From what stands on a side of an equation to a formula over the names of its document."""
