"""Array programs: ops, loop nests, and where arrays lie."""
