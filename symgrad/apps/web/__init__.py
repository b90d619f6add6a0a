"""Serve a page in the browser that shows everything symgrad knows about a typed program.

Open `answers.py` first: it computes answers, and must not import the web server. `workers.py` has the processes with
their limits, `app.py` the routes, `static/` the page.
"""
