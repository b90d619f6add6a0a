"""Views of graphs, derivations and verdicts: text, LaTeX, HTML, pictures. Pure functions of the records."""
