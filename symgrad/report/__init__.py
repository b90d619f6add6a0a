"""Reports: the content of an answer as a tree of plain data (`blocks`), and its writers. Start at `report.Report`."""
