"""Values that a command line gives: as numbers, in files."""
