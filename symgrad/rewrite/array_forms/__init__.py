"""The normal form of contractions, inverses and what moves entries, and matrix notation."""
