"""Write records as plain text and LaTeX. Open `derivation` first."""
