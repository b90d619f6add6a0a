"""What is known about the values of a graph: signs, intervals, whole numbers, definite matrices. Open `values.py` first."""
