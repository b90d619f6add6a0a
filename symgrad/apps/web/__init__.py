"""A page in the browser: a program is typed, and everything that symgrad knows about it appears.

`answers.py` has what is answered, and knows no web; `workers.py` has the processes that answer, with limits; `app.py`
the addresses; `static/` the page itself.
"""
