"""Derivatives that documents write, as formulas: also those of values that an equation defines."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from symgrad.api.derivatives.differentiate import grad
from symgrad.api.derivatives.jacobians import hessian, jacobian
from symgrad.api.functions.layout import eye, zeros
from symgrad.api.functions.matrices import solve
from symgrad.api.handles.expr import Expr
from symgrad.apps.review.assumptions import ImplicitEquation
from symgrad.ir.graph import SYMBOL, Node, number
from symgrad.ir.traverse import symbols_of, topological
from symgrad.support.errors import NotInProgramError, UnsupportedError


def derivative(
    y: Expr,
    by: tuple[Expr, ...],
    implied: Collection[ImplicitEquation] = (),
    variables: Collection[str] | None = None,
) -> Expr:
    """Return a derivative as a formula: a gradient of a number, a Jacobian of an array.

    Args:
        y: what is differentiated.
        by: what by, one after the other; a value that is computed stands for all that is computed from it.
        implied: equations that define unknowns, which then follow what is differentiated by. With z = g(z, x) it is
            dz/dx = (1 - dg/dz)^-1 dg/dx, and so dy/dx = y_x + y_z dz/dx.
        variables: as for `reparametrised`.

    Raises:
        UnsupportedError: for unknowns that this is not done for: two of them, matrices.

    Example:
        >>> import symgrad as sg
        >>> x, z = sg.symbols("x z")
        >>> print(derivative(z, (x,), [ImplicitEquation(z.node, sg.tanh(z + x).node)]).canonical())
        sech(x + z)**2/(1 - sech(x + z)**2)
    """
    if len(by) == 2 and by[0].node is by[1].node and by[0].shape and not y.shape and not implied:
        return hessian(y, by[0])
    for x in by:
        y = _once(y, x, implied, variables)
    return y


def reparametrised(y: Node, x: Node, variables: Collection[str] | None = None) -> Node | None:
    """Return the input that a derivative by a computed value goes through, which what is differentiated does not read.

    With K = sigma**2 and s = log(sigma**2), dK/ds is dK/dsigma divided by ds/dsigma. On the curve x = v*c*t,
    y = v*s*t - g*t**2/2 it is t.

    Args:
        y: what is differentiated.
        x: the computed value.
        variables: names by which the document differentiates; None for a partial derivative, which follows no curve.

    Returns:
        The only input that the value is computed from, or the parameter of a curve; None where ``y`` reads the value,
        or has nothing to do with it. The parameter is the time t, else the only input that both read, or the only one
        of these that the document differentiates by.

    Raises:
        UnsupportedError: if it is computed from several inputs, or arrays.
    """
    if x.op is SYMBOL or x in set(topological([y])):
        return None
    inputs, read = [s for s in symbols_of([x]) if s.dtype == "real"], set(symbols_of([y]))
    if read.isdisjoint(inputs):
        return None
    if len(inputs) > 1 and variables is not None:
        shared = [s for s in inputs if s in read]
        chosen = [[s for s in shared if s.name in known] for known in ("t", variables)]
        inputs = next((found for found in (*chosen, shared) if len(found) == 1), inputs)
    if len(inputs) > 1 or inputs[0].shape or x.shape:
        raise UnsupportedError(
            "this is a derivative by a value that the formula does not read",
            expected="a formula that is written with it",
            cure="write the formula in its terms, or differentiate by an input",
        )
    return inputs[0]


@dataclass(frozen=True, slots=True)
class ImplicitDerivative:
    """How an unknown z = g(z, x) follows x, and with it a value y.

    Args:
        y: the value.
        x: what is differentiated by.
        z: the unknown.
        value: g.
        here: dg/dz.
        there: dg/dx.
        curve: whether g = z - F + c, for an equation F(x, z) = c.
    """

    y: Expr
    x: Expr
    z: Expr
    value: Expr
    here: Expr
    there: Expr
    curve: bool = False

    def follow(self, *, sign: int = 1) -> Expr:
        """Return dz/dx = (1 - dg/dz)^-1 dg/dx; with another sign, (1 + dg/dz)^-1 dg/dx."""
        if self.z.shape:
            return solve(eye(self.z.shape[0]) - sign * self.here, self.there)
        found = self.there / (1 - sign * self.here)
        return found.canonical() if self.curve else found  # -F_x/F_z, as people know it

    def along(self, step: Expr, following: Expr) -> Expr:
        """Return what a derivative by z sends on, where z follows x in a given way."""
        if self.z.shape:
            return step @ following
        return step[..., None] * following if self.x.shape and step.shape else step * following

    def total(self, following: Expr) -> Expr:
        """Return dy/dx, where z follows x in a given way."""
        if self.y.node is self.z.node:
            return following
        through = self.along(_plain(self.y, self.z), following)
        return _plain(self.y, self.x) + through if self.x.node in topological([self.y.node]) else through

    def inner(self) -> tuple[Expr, Expr] | None:
        """Return du/dz and du/dx, where g is a function of u; None where it is none."""
        node = self.value.node
        if len(node.args) != 1 or not node.op.pointwise:
            return None
        u = Expr(node.args[0], listings=self.value.listings)
        return _plain(u, self.z), _plain(u, self.x)


def implicit_derivative(y: Expr, x: Expr, implied: Collection[ImplicitEquation]) -> ImplicitDerivative | None:
    """Return how a value follows through an equation; None where it follows none.

    Raises:
        UnsupportedError: as for `derivative`.
    """
    reached = set(topological([y.node]))
    follows = [i for i in implied if i.unknown is not x.node and i.unknown in reached]
    if not follows:
        return None
    if len(follows) > 1:
        raise UnsupportedError(
            "a derivative through two equations at once", cure="define one unknown by the other"
        )
    z, value = (Expr(n, listings=y.listings) for n in (follows[0].unknown, follows[0].value))
    if len(z.shape) > 1 or len(x.shape) > 1:
        raise UnsupportedError("a derivative through an equation of matrices", cure="write it for a vector")
    here, there = _plain(value, z), _plain(value, x)
    return ImplicitDerivative(y, x, z, value, here, there, follows[0].curve is not None)


def _once(y: Expr, x: Expr, implied: Collection[ImplicitEquation], variables: Collection[str] | None) -> Expr:
    middle = reparametrised(y.node, x.node, variables)
    if middle is not None:
        inner = Expr(middle, listings=x.listings)
        return _once(y, inner, implied, variables) / _once(x, inner, implied, variables)
    slope = implicit_derivative(y, x, implied)
    return _plain(y, x) if slope is None else slope.total(slope.follow())


def _plain(y: Expr, x: Expr) -> Expr:
    try:
        return jacobian(y, x) if y.shape else grad(y, x)
    except NotInProgramError:  # y does not read it, and its program has no such name
        return zeros((*y.shape, *x.shape)) if y.shape or x.shape else Expr(number(0))
