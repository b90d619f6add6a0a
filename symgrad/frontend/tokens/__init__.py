"""From text to a tree: tokens, the parser, and what is said of what it refuses."""
