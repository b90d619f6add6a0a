"""The mistakes that people make when they differentiate, and which of them gives a wrong claim."""
