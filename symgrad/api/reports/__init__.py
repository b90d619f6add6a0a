"""What answers that users hold say, as reports: one file for each kind."""
