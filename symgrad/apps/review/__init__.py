"""Hand derivations in documents: which line is right, and which is the first that is not."""
