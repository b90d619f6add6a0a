"""Programs as the checker reads them, their shapes and their derivatives."""
