"""A kernel as files, and as assembly that one reads."""
