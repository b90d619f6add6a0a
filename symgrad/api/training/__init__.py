"""Searches and training."""
