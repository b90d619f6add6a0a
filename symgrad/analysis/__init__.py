"""Analyses of a program: explanations of its gradient, expectations over its noise, checks of its stop_gradients.

Start at `explain.derivation`, `expectations.expectation` and `stop_gradient.table`. The package must not import
`symgrad.api`.
"""
