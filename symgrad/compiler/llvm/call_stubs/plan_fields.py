"""The fields of the plan of an elementwise kernel: the inner loop reads all fields, a direct call the first ones."""

from __future__ import annotations

FIELDS = (  # in this order
    ("nargs", "i64"),
    ("nin", "i64"),
    ("width", "i64"),
    ("stride", "i64"),
    ("block.elements", "i64"),
    ("spill.size", "i64"),
    ("sizes", "ptr"),
    ("body", "ptr"),
    ("streamed.from", "i64"),
    ("call.elements", "i64"),
    ("mover", "ptr"),
)
"""Names and types of the fields."""
