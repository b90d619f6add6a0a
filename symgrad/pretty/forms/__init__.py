"""Search, among equal forms, for the form that people write."""
