"""Lexer, LALR parser, and their error messages. Open `lexer.py` first."""
