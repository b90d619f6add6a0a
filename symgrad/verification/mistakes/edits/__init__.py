"""Changes of a formula or of its derivation that make a wrong claim out of the right one."""
