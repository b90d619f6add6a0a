"""Records of ops that are not elementwise."""
