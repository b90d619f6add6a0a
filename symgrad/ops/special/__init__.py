"""Records of special functions."""
