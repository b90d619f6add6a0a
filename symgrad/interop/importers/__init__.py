"""Functions of other frameworks as programs: one file a framework, imported only when it is asked for."""
