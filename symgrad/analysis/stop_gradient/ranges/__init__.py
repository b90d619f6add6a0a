"""What leaves the range of floats on its way to an ordinary number: where, by which step, and how else to write it."""
