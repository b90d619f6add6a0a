"""The writers of reports, one module for each form of output: text, Markdown, LaTeX, HTML, plain values."""
