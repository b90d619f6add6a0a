"""Differentiation from graph to graph, without numbers; start at `vjp.pull_back`.

`linearise` reads an op's partials; `jvp` pushes tangents forward through them, `vjp` transposes them and pulls
cotangents back. All modes share one set of rules, so they cannot drift apart. This package must not import `analysis`
or `api`.
"""
