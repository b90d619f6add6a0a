"""The stop_gradients of a program: checks (`table`, for `symgrad.lint`), and where they belong (`placement`)."""
