"""The public face: handles on nodes, and the verbs.

Everything below works on nodes and knows nothing of this package.
"""
