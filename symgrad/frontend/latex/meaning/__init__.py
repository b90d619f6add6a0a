"""Convert trees to nodes: names, entries, functions, sums, derivatives, and lines that define names."""
