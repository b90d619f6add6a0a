"""Programs as functions of other frameworks: one file a framework, imported only when it is asked for."""
