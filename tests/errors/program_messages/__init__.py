"""Programs that are refused, by kind: the class of the message, its place, its text and its cure."""
