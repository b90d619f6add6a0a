"""Programs of other frameworks read (`interop/importers/`), and kernels made theirs (`exporters/`)."""
