"""The code of loop nests."""
