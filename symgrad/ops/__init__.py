"""The op records, by family; importing this package registers them all."""

from symgrad.ops import arith, control, elementary, hyperbolic, logic, rounding, special, trig

__all__ = ["arith", "control", "elementary", "hyperbolic", "logic", "rounding", "special", "trig"]
