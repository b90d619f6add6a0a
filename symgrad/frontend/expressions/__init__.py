"""What an expression means."""
