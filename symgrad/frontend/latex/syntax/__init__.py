r"""Convert the text of LaTeX to trees: tokens, macros, and a parser by precedence that knows no names."""
