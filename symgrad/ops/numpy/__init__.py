"""NumPy's and SciPy's spellings as graphs: what each means."""
