"""Import functions of other frameworks as programs: one package per framework, imported on demand."""
