"""Differentiation from graph to graph, nothing numeric; start at `vjp.pull_back`.

`linearise` reads an op's partials; `jvp` pushes tangents forward through them, `vjp` transposes them and pulls
cotangents back. All modes share one rule set, so they cannot drift apart. Imports nothing of analysis or api.
"""
