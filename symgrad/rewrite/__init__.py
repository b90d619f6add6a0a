"""Rewrite graphs by rules: facts about nodes, patterns, rules, engine, normal forms, trace.

Open `pipeline.py` first: it runs the phases. This package imports no front end, no derivatives and no kernels.
"""
