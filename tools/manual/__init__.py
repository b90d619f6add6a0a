"""The manual: the pages of docs/ as one book, with the reference of every public name and the examples' output.

`make docs` builds it. Each fact has one place:

| fact | its one place |
|---|---|
| which pages there are, and in which order | the links of `docs/index.md`, read by `contents.py` |
| which public name is on which page of the reference | `topics.toml`, read by `reference.py` |
| which examples there are | `docs/gallery.md`; run and written by `gallery.py` |
| how Sphinx makes pages of it | `conf.py` |
"""
