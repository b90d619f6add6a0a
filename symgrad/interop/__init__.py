"""Programs of other frameworks read (`importers/`), and kernels made theirs (`exporters/`)."""
