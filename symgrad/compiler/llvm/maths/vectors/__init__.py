"""Vectors of doubles: instructions, arithmetic of two doubles, tables and rare lanes."""
