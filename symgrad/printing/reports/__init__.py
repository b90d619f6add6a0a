"""What answers say, as reports: of records, one file each."""
