"""Of equal forms, the one that people write."""
