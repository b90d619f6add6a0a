"""The only interface to SymPy: graphs to SymPy expressions and back, unevaluated and without loss.

    add(add(a, b), c)                 Add(a, b, c)                  left-nested chains are SymPy's flat sums
    mul(div(a, b), c)                 Mul(a, Pow(b, -1), c)         a reciprocal divides what stands before it
    div(1, b)                         Pow(b, -1)
    neg(b)                            Mul(-1, b)                    and neg(a*b) is Mul(-1, a, b)
    sqrt(x)                           Pow(x, 1/2)
    where(c, a, where(d, b, e))       Piecewise((a, c), (b, d), (e, True))
    and_, or_, xor, maximum, minimum  And, Or, Xor, Max, Min        flat too, arguments in the order written
    any other op                      the class its record names in `cas`, else a Function of ours in `heads`

The ambiguous part of a form that would read as another (``x**-1``, ``-1*x``, ``a*(1/b)``, ``x**0.5``) goes into an
``UnevaluatedExpr``, which the reader drops. Floats of SymPy become exact: the shortest decimal that parses to the
float. A Piecewise in the last branch of another joins its chain; ITE, Implies and the like are expanded.

This package never calls an evaluating or caching constructor of SymPy, compares two expressions, or hashes one before
its arguments: SymPy recurses over the expanded tree, which is exponential with sharing, and too deep for long chains.
"""

from __future__ import annotations

from symgrad.ops.sympy_bridge.functions import heads, to_sympy
from symgrad.ops.sympy_bridge.objects import sympy
from symgrad.ops.sympy_bridge.read import from_sympy
from symgrad.ops.sympy_bridge.write import assumptions, declarations

__all__ = ["assumptions", "declarations", "from_sympy", "heads", "sympy", "to_sympy"]
