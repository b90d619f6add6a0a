"""Export programs as functions of other frameworks: one module per framework, imported on demand."""
