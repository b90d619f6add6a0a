"""Wrong rewritings: rows of algebra that is none, and which of them leads from one side to the other."""
