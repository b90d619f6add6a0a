"""Programs at exact points, in ball arithmetic."""
