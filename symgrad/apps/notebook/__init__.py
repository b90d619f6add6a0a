"""symgrad in notebooks: what `%load_ext symgrad` loads. Nothing else imports this room, which needs IPython."""
