"""From trees to nodes: names, entries, functions, sums, derivatives, lines that define."""
