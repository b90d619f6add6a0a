"""The manual: the pages of docs/ in one book, with the reference of every public name and the examples as they run.

`make docs` builds it. What is where:

| fact | its one place |
|---|---|
| which pages there are, and in which order | the links of `docs/index.md`, read by `contents.py` |
| which public name is on which page of the reference | `topics.toml`, read by `reference.py` |
| which examples there are | `docs/gallery.md`; run and written by `gallery.py` |
| how Sphinx makes pages of it | `conf.py` |
"""
