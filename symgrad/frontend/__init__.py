"""Parse text to graphs: each front end returns a Listing, which has the nodes with their places.

Open `text.py` first for the program notation, and `latex/document.py` for LaTeX. The package must not import
derivatives or the compiler.
"""
