"""Parse text to graphs: each front end returns a Listing, the nodes with their places.

Open `text.py` first for the program notation, `latex/document.py` for LaTeX. Imports no derivatives and no compiler.
"""
