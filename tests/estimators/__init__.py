"""Estimators of gradients, against what is published about them."""
