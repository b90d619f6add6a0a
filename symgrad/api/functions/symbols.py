"""Declare scalar and array symbols by name."""

from __future__ import annotations

from typing import Any, Never, TypeAlias, cast

from symgrad.api.functions.sizes import shape_of
from symgrad.api.handles.expr import Expr, handle, node_of
from symgrad.ir.graph import symbol
from symgrad.ir.listing import one_of
from symgrad.ir.sizes import Shape
from symgrad.ir.traverse import as_parameter
from symgrad.ir.types import DISTRIBUTIONS, DOMAINS, Declaration, Distribution, Domain, is_family, is_name
from symgrad.rewrite.facts.distribution_params import declared
from symgrad.support.errors import UsageError

Values: TypeAlias = "str | Domain | tuple[Any, ...]"
"""A domain or distribution: a text, or a tuple of a distribution's name and parameters (possibly expressions)."""

# What is imported in functions here would slow down `import symgrad`: the parser, which plain domains do not need.


def symbols(names: str, domain: Values = "real", **assumptions: Never) -> Expr:
    """Return symbols by name: one Expr for one name, a tuple for several.

    Args:
        names: names separated by spaces or commas.
        domain: ``real``, ``positive``, ``nonnegative``, ``int``, ``bool``, or an interval such as ``real(0, 1)``, which
            is open, or ``int(0, 9)``, which contains both ends. For random inputs, a distribution such as ``Normal(0,
            1)``, or a tuple of its name and its parameters if they are expressions: ``("Normal", mu, 1)``.
        assumptions: not allowed; instead of SymPy's ``positive=True`` write ``domain="positive"``.

    Returns:
        An Expr, or a tuple of Exprs (type checkers see an Expr, which also unpacks). The same name and domain always
        give the same Expr.

    Raises:
        UsageError: for an invalid name, or an unknown domain.
        DeclarationError: for parameters that no distribution has.

    Example:
        >>> import symgrad as sg
        >>> x, y = sg.symbols("x y")
        >>> sg.symbols("x") is x
        True
        >>> s = sg.symbols("s", "positive")
        >>> u = sg.symbols("u", ("LogNormal", -s**2/2, s))
        >>> print(u.node.declaration)
        u ~ LogNormal(-s**2/2, s)
    """
    if not isinstance(names, str):  # pyright: ignore[reportUnnecessaryIsInstance]  (users may pass anything)
        raise UsageError(
            f"names are a text, got a value of type {type(names).__name__}", cure='sg.symbols("x y")'
        )
    if assumptions:
        name, *_ = assumptions
        others = ["int" if n == "integer" else n for n, holds in assumptions.items() if holds]
        suggested = next((n for n in others if n in DOMAINS and n != "real"), "real")
        raise UsageError(
            f"symbols takes no '{name}='",
            expected=f"domain=, {one_of(DOMAINS)}",
            cure=f'sg.symbols({names!r}, domain="{suggested}")',
        )
    words = names.replace(",", " ").split()
    if not words:
        raise UsageError("no name was given", cure='sg.symbols("x y")')
    exprs = tuple(handle(symbol(declaration(_validate(name), domain))) for name in words)
    return exprs[0] if len(exprs) == 1 else cast("Expr", exprs)


def tensor(
    name: str,
    shape: Any = None,
    domain: Values = "real",
    *,
    symmetric: bool = False,
) -> Expr:
    """Return an array symbol.

    Args:
        name: the name of the symbol.
        shape: a tuple of sizes: whole numbers, or names. The arrays of a call determine a named size, which is the same
            wherever the name occurs; a formula or kernel works for all values of the size.
        domain: ``real``, ``positive``, ``nonnegative``, ``int`` (positions, counts), ``bool``, or an interval such as
            ``real(0, 1)``, which is open, or ``int(0, 9)`` or ``int(0, k - 1)``, which contain both ends. The ends may
            contain sizes (for labels of ``k`` classes). For an array of independent random inputs, a distribution such
            as ``Normal(0, 1)``, or a tuple of its name and of parameters that broadcast: ``("Bernoulli", p)``.
        symmetric: whether the symbol is a symmetric matrix; in programs one writes ``S : real[n, n] symmetric``. For
            derivatives, the entries still count as independent.

    Returns:
        An Expr. The same name, shape, domain and symmetry always give the same Expr.

    Raises:
        UsageError: for an invalid name, an invalid size, or an unknown domain.
        DeclarationError: for a symmetric array that is not a square matrix, or for parameters that the distribution
            does not have.
        ShapeError: if the shapes of parameters do not broadcast to the shape of the array.

    Example:
        >>> import symgrad as sg
        >>> X, w = sg.tensor("X", ("n", 5)), sg.tensor("w", (5, 1))
        >>> (X @ w).shape
        ('n', 1)
        >>> ids = sg.tensor("ids", ("n",), "int")
        >>> X[ids].dtype, ids.dtype
        ('real', 'int')
        >>> u, x = sg.tensor("u", ("n",), "Uniform(0.9, 1.1)"), sg.tensor("x", ("n",))
        >>> print(sg.explain(sg.sum(u*x**2), x).noise["u"].enters)
        True
    """
    if shape is None:
        raise UsageError(
            f"tensor({name!r:.60}) has no shape",
            expected="a name and a shape; values are for the call",
            cure="X = sg.tensor('X', ('n', 3)), and e(X=values)",
        )
    if isinstance(domain, int):
        raise UsageError(
            f"the shape of '{name}' is one argument",
            expected="a tuple of sizes",
            cure=f"sg.tensor({name!r}, (3, 3))",
        )
    sizes = shape_of(shape)
    for size in sizes:
        if not isinstance(size, int | str):
            raise UsageError(
                f"'{name}' is declared with the size {size}",
                expected="a whole number or a name",
                cure="give the size a name of its own, or compute the array: "
                f"sg.tensor({name!r}, ('n',))[1:] has n - 1 entries",
            )
    return handle(symbol(declaration(_validate(name), domain, sizes, symmetric=symmetric)))


def array_input(name: str, shape: Shape, domain: Values = "real") -> Expr:
    """Return an input with a shape; a number has no shape."""
    return tensor(name, shape, domain) if shape else symbols(name, domain)


def _validate(name: Any) -> str:
    if not isinstance(name, str) or not is_name(name):
        raise UsageError(
            f"'{name}' cannot name a symbol",
            expected="a letter, then letters, digits and _; no word of Python, and not pi",
            cure='several names have spaces between them: sg.symbols("x y")',
        )
    return name


def _values(domain: Values) -> Domain | Distribution:
    """Return the domain, or the distribution of a random input, from a text or a name with parameters."""
    if isinstance(domain, tuple):
        if not domain or not isinstance(domain[0], str):
            raise UsageError(
                "a distribution is its name and its parameters",
                expected='a tuple such as ("Normal", mu, 1)',
                cure=f"a name first: {one_of(DISTRIBUTIONS)}",
            )
        name, *parameters = domain
        return Distribution(name, tuple(as_parameter(node_of(p)) for p in parameters))
    family = domain.partition("(")[0].strip() if isinstance(domain, str) else ""
    if not isinstance(domain, str) or not is_family(family):
        return domain_named(domain)
    from symgrad.frontend.text import parse_program

    # A draw without replacement always has an axis.
    shape = "[_m]" if family in DISTRIBUTIONS and not DISTRIBUTIONS[family].independent else ""
    distribution = parse_program(f"x ~ {domain}{shape}", "<domain>").symbols["x"].declaration.distribution
    assert distribution is not None
    return distribution


def declaration(name: str, domain: Values, shape: Shape = (), *, symmetric: bool = False) -> Declaration:
    """Return the declaration of a name, from a domain or a distribution.

    Raises:
        UsageError: for an unknown domain.
        DeclarationError, ShapeError: for invalid parameters of the distribution.
    """
    values = _values(domain)
    if isinstance(values, Distribution):
        return declared(Declaration(name, shape=shape, distribution=values, symmetric=symmetric))
    return Declaration(name, values, shape, symmetric=symmetric)


def domain_named(domain: str | Domain) -> Domain:
    """Return a domain by its name in programs; return a Domain unchanged.

    Raises:
        UsageError: if there is no domain with this name.
    """
    if isinstance(domain, Domain):
        return domain
    if isinstance(domain, str) and domain in DOMAINS:  # pyright: ignore[reportUnnecessaryIsInstance]  (users may pass anything)
        return DOMAINS[domain]
    if not isinstance(domain, str) or "(" not in domain:  # pyright: ignore[reportUnnecessaryIsInstance]  (users may pass anything)
        raise UsageError(f"unknown domain '{domain}'", expected=one_of(DOMAINS))
    from symgrad.frontend.text import parse_program

    name = "x"
    while name in domain:  # an end may read a size with this name
        name += "x"
    return parse_program(f"{name} : {domain}", "<domain>").symbols[name].declaration.domain
