"""Files of Python's: a function in one is found, called for its program, and checked by its text."""
