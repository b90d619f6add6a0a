"""Differentiation: graph in, graph out, nothing numeric.

`linearise` reads an op's partials; `jvp` pushes tangents forward through them, `vjp` transposes them and
pulls cotangents back, `derivatives` takes all partials to an order. There is one rule set, so the modes
cannot drift apart.
"""
