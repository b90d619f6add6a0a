"""What becomes of the claims of a document: what they rest on, what was given, what decides them."""
