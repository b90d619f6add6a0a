"""Points at which a formula has no value although it has a limit."""
