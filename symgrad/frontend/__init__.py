"""Text to graphs: each front end turns what the user wrote into a Listing, nodes with their places."""
