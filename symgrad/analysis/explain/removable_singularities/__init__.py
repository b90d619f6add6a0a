"""Removable singularities: points at which a formula is undefined but has a limit. Start at `search.gaps_of`."""
