"""Records of arithmetic, choices and elementary functions."""
