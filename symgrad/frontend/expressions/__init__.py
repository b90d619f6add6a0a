"""Build the nodes of expressions and declarations: semantic actions of the grammar. Open `reader.py` first."""
