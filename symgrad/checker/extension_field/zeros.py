"""Zero sets of polynomials in generators: empty, thin (without interior), or possibly with an open subset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from symgrad.checker.extension_field.ball_values import sign_of_constant
from symgrad.checker.extension_field.field import Element, Poly
from symgrad.checker.extension_field.generators import Generators
from symgrad.checker.limits import POWERS_PER_BASE, ZERO_SIGNS
from symgrad.checker.program.intervals import UNBOUNDED

_DISCONTINUOUS = frozenset({"floor", "round", "sign", "atan2", "pow"})
_INVERSE_TRIGONOMETRIC = frozenset({"asin", "atan"})


@dataclass(slots=True)
class Zeros(Generators):
    """Generators, with tests of the zero sets of polynomials."""

    def is_thin(self, h: Poly) -> bool:
        """Tell whether the zero set of a nonzero polynomial certainly contains no open set.

        As long as no sign changes, generators are analytic functions. Those that are not opaque satisfy no relations
        except the known ones; this also holds if there is a single opaque function.
        """
        F = self.field
        lowest = [min(column) for column in zip(*h.monoms(), strict=True)]
        rest = divmod(h, F.ring.from_dict({tuple(lowest): 1}))[0]
        alone = [F.ring.gen(p) for p, e in enumerate(lowest) if e and self.meaning[p][0] != "sign"]
        return all(all(self._sign_pieces(part)) for part in [*alone, rest])

    def varies(self, a: Element) -> bool:
        """Tell whether a fraction is certainly not constant on any open set."""
        pieces = self._sign_pieces(a.num)
        return all(pieces) and (bool(a.den) or not any(piece.is_constant() for piece in pieces))

    def _sign_pieces(self, h: Poly) -> list[Poly]:
        """Return a polynomial for each choice of its signs: if none of these is zero, it vanishes on no open set."""
        nothing = [self.field.ring.constant(0)]
        own = {p for p, d in enumerate(h.degrees()) if d > 0}
        every = self.dependencies(own)
        if not self._has_symbol(every):
            return [h] if h.is_constant() or sign_of_constant(self, h) else nothing
        functions = [
            self.functions[self.meaning[p][1]][0]
            for p in every
            if self.meaning[p][0] == "function" and self._has_symbol(self.dependencies([p]))
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
        """Tell whether the bounds of the generators imply that a polynomial has no zeros."""
        if self.generator(h)[0] == "sign" or sign_of_constant(self, h):
            return True
        sign = self.sign_by_bounds(h)
        if not sign:
            return False
        end = self.range(h)[0 if sign > 0 else 1]
        # If the bound is zero, every term must be at its own bound at a zero of the polynomial.
        return bool(end) or any(
            self._misses_bound(exponents, (c > 0) == (sign > 0)) for exponents, c in h.terms()
        )

    def _misses_bound(self, exponents: Sequence[int], low: bool) -> bool:
        """Tell whether a product of nonnegative generators never equals its lower, or its upper, bound."""
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
        """Tell whether a generator never equals its bounds."""
        kind, place = self.meaning[position]
        if kind in {"root", "power", "log"}:
            atom = self.atoms[place // POWERS_PER_BASE if kind == "power" else place]
            return self.field.number(atom.value) is not None
        return kind in {"symbol", "exp", "constant"}
