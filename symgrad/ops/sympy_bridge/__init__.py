"""The only interface to SymPy: graphs to SymPy expressions and back, unevaluated and without loss.

    add(add(a, b), c)                 Add(a, b, c)                  left-nested chains are SymPy's flat sums
    mul(div(a, b), c)                 Mul(a, Pow(b, -1), c)         a reciprocal divides the product before it
    div(1, b)                         Pow(b, -1)
    neg(b)                            Mul(-1, b)                    and neg(a*b) is Mul(-1, a, b)
    sqrt(x)                           Pow(x, 1/2)
    where(c, a, where(d, b, e))       Piecewise((a, c), (b, d), (e, True))
    and_, or_, xor, maximum, minimum  And, Or, Xor, Max, Min        also flat, with arguments in the order written
    any other op                      the class that `cas` in its record names, else symgrad's own Function in `heads`

If a SymPy form could be read as another op (``x**-1``, ``-1*x``, ``a*(1/b)``, ``x**0.5``), its ambiguous part is put
into an ``UnevaluatedExpr``, which the reader drops. Floats of SymPy become exact: the shortest decimal that parses to
the float. A Piecewise in the last branch of another joins its chain; ITE, Implies and the like are expanded.

This package never calls an evaluating or caching constructor of SymPy, never compares two expressions, and never hashes
an expression before its arguments. SymPy would recurse over the expanded tree, which takes exponential time if parts
are shared, and is too deep for long chains.
"""

from __future__ import annotations

from symgrad.ops.sympy_bridge.functions import heads, to_sympy
from symgrad.ops.sympy_bridge.objects import sympy
from symgrad.ops.sympy_bridge.read import from_sympy
from symgrad.ops.sympy_bridge.write import assumptions, declarations

__all__ = ["assumptions", "declarations", "from_sympy", "heads", "sympy", "to_sympy"]
