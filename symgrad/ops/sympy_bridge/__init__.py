"""The one door to SymPy: graphs to SymPy expressions and back, nothing evaluated, nothing lost.

    add(add(a, b), c)                 Add(a, b, c)                  left-nested chains are SymPy's flat sums
    mul(div(a, b), c)                 Mul(a, Pow(b, -1), c)         a reciprocal divides what stands before it
    div(1, b)                         Pow(b, -1)
    neg(b)                            Mul(-1, b)                    and neg(a*b) is Mul(-1, a, b)
    sqrt(x)                           Pow(x, 1/2)
    where(c, a, where(d, b, e))       Piecewise((a, c), (b, d), (e, True))
    and_, or_, xor, maximum, minimum  And, Or, Xor, Max, Min        flat too, arguments in the order written
    any other op                      the class its record names in `cas`, else a Function of ours in `heads`

Where a form as written would read as another (``x**-1``, ``-1*x``, ``a*(1/b)``, ``x**0.5``), its ambiguous part goes
into an ``UnevaluatedExpr``, which reading drops. Floats read from SymPy are exact: the shortest decimal that reads back
as the float. A Piecewise in the last branch of another joins its chain; ITE, Implies and the like are written out.

Nothing here calls an evaluating or caching constructor of SymPy, compares two expressions, or hashes one before its
arguments: SymPy does all that by recursion over the expanded tree, exponential when shared, too deep when long.
"""

from __future__ import annotations

from symgrad.ops.sympy_bridge.functions import heads, to_sympy
from symgrad.ops.sympy_bridge.objects import sympy
from symgrad.ops.sympy_bridge.read import from_sympy
from symgrad.ops.sympy_bridge.write import assumptions, declarations

__all__ = ["assumptions", "declarations", "from_sympy", "heads", "sympy", "to_sympy"]
