"""The IPython extension that `%load_ext symgrad` loads. Nothing else imports this package, which needs IPython."""
