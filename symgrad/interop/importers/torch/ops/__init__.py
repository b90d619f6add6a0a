"""What the operations of torch mean."""
