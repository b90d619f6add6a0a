"""Reports: what an answer says, as a small tree of plain data, and the writers of that tree."""
