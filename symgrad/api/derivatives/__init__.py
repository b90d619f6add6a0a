"""The derivative verbs."""
