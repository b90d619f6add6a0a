"""Export programs as functions of other frameworks: one module for each framework, imported on demand."""
