"""Front ends: each turns what the user wrote into a Listing, nodes with their places."""
