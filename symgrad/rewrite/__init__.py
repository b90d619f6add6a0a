"""Rewrite graphs by rules: facts about nodes, patterns, rules, engine, normal forms, trace.

Open `pipeline.py` first: it runs the phases. This package imports neither front ends, derivatives nor kernels.
"""
