"""Values: inputs of an evaluation, evaluation itself, and arrays of other libraries. Open `evaluate.py` first."""
