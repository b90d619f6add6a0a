"""Applications: review of documents, check of gradient code, command line, web page, notebook.

Open the `__init__.py` of the application first. No other package of symgrad imports this one.
"""
