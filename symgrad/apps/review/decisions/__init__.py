"""What becomes of the claims of a document: what they rest on, what decides them, what may be meant besides."""
