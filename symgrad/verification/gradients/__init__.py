"""Claims about sides that hold values back from differentiation: of their values and of their derivatives."""
