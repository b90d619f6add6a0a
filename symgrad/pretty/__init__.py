"""Formulas in the words of the program: what it names is written by its name, numbers as they were written."""
