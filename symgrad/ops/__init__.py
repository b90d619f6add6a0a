"""The op records, by family; importing this package registers them all."""

from symgrad.ops import arith, control, logic

__all__ = ["arith", "control", "logic"]
