"""How things are written: the program notation of graphs, of arrays and of contractions."""
