"""Array programs entry by entry, for every size of their axes."""
