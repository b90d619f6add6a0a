"""The forms of a report, one file each: terminal, Markdown, LaTeX, HTML, plain values."""
