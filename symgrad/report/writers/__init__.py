"""The writers of reports, one module per form: text, Markdown, LaTeX, HTML, plain values."""
