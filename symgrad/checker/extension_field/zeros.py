"""Where polynomials of generators vanish: nowhere, on a thin set, or perhaps on an open one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from symgrad.checker.extension_field.ball_values import sign_of_constant
from symgrad.checker.extension_field.field import Element, Poly
from symgrad.checker.extension_field.generators import Generators
from symgrad.checker.limits import POWERS_PER_BASE, ZERO_SIGNS
from symgrad.checker.program.intervals import UNBOUNDED

__all__ = ["Zeros"]

_DISCONTINUOUS = frozenset({"floor", "round", "sign", "atan2", "pow"})
_INVERSE_TRIGONOMETRIC = frozenset({"asin", "atan"})


@dataclass(slots=True)
class Zeros(Generators):
    """Generators, and where polynomials of them are zero."""

    def is_thin(self, h: Poly) -> bool:
        """Whether the zeros of a polynomial, which is not zero everywhere, certainly contain no open set.

        Where signs do not change, kernels are analytic functions, and those that are not opaque satisfy no relations
        but the known ones. Of opaque functions that is so if there is only one.
        """
        F = self.field
        lowest = [min(column) for column in zip(*h.monoms(), strict=True)]
        rest = divmod(h, F.ring.from_dict({tuple(lowest): 1}))[0]
        alone = [F.ring.gen(p) for p, e in enumerate(lowest) if e and self.meaning[p][0] != "sign"]
        return all(all(self._sign_pieces(part)) for part in [*alone, rest])

    def varies(self, a: Element) -> bool:
        """Whether a fraction certainly has the same value on no open set."""
        pieces = self._sign_pieces(a.num)
        return all(pieces) and (bool(a.den) or not any(piece.is_constant() for piece in pieces))

    def _sign_pieces(self, h: Poly) -> list[Poly]:
        """What a polynomial is for every choice of its signs: zero on an open set only if one of these is zero."""
        nothing = [self.field.ring.constant(0)]
        own = {p for p, d in enumerate(h.degrees()) if d > 0}
        every = self.within(own)
        if not self._has_symbol(every):
            return [h] if h.is_constant() or sign_of_constant(self, h) else nothing
        functions = [
            self.functions[self.meaning[p][1]][0]
            for p in every
            if self.meaning[p][0] == "function" and self._has_symbol(self.within([p]))
        ]
        angles = any(self.meaning[p][0] == "tan" for p in every)
        if len(functions) > 1 or not _DISCONTINUOUS.isdisjoint(functions):
            return nothing
        if angles and not _INVERSE_TRIGONOMETRIC.isdisjoint(functions):
            return nothing
        signs = [p for p in every if self.meaning[p][0] == "sign"]
        if len(signs) > ZERO_SIGNS or not own.issuperset(signs):
            return nothing
        pieces = [h]
        for p in signs:
            s = self.field.ring.gen(p)
            pieces = [divmod(piece, s - side)[1] for piece in pieces for side in (1, -1)]
        return pieces

    def _has_symbol(self, positions: Iterable[int]) -> bool:
        return any(self.meaning[p][0] == "symbol" for p in positions)

    def never_zero(self, h: Poly) -> bool:
        """Whether the bounds of the generators tell that a polynomial vanishes nowhere."""
        if self.generator(h)[0] == "sign" or sign_of_constant(self, h):
            return True
        sign = self.sign_by_bounds(h)
        if not sign:
            return False
        end = self.range(h)[0 if sign > 0 else 1]
        # If the end is zero, all terms would have to be at theirs.
        return bool(end) or any(
            self._misses_bound(exponents, (c > 0) == (sign > 0)) for exponents, c in h.terms()
        )

    def _misses_bound(self, exponents: Sequence[int], low: bool) -> bool:
        """Whether a product of kernels that are not negative is never at its lowest or highest value."""
        used = [p for p, e in enumerate(exponents) if e]
        ends = [self.bounds.get(p, UNBOUNDED) for p in used]
        if any(bottom is None or bottom < 0 for bottom, _ in ends):
            return False
        if low and any(not bottom for bottom, _ in ends):
            return all(
                bottom or self._generator_misses_bounds(p) for p, (bottom, _) in zip(used, ends, strict=True)
            )
        return any(self._generator_misses_bounds(p) for p in used)

    def _generator_misses_bounds(self, position: int) -> bool:
        """Whether a kernel never takes the values that bound it."""
        kind, place = self.meaning[position]
        if kind in {"root", "power", "log"}:
            atom = self.atoms[place // POWERS_PER_BASE if kind == "power" else place]
            return self.field.number(atom.value) is not None
        return kind in {"symbol", "exp", "constant"}
