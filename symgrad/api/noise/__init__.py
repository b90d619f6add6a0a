"""What noise does to gradients, and how one is made free of it."""
