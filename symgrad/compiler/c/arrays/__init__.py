"""Array programs as C99: the functions that LLVM gets for vectors of one lane, written with loops and branches."""
