"""Write the instructions of equations (`builder.py`), and collect the functions that they call (`declarations.py`)."""
