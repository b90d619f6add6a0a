"""Parse the values of inputs on a command line: numbers and files. Open `values.py` first."""
