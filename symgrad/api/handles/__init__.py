"""What users hold: expressions and programs, their operators, methods and forms."""
