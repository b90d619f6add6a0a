r"""Expectations, variances and covariances of programs over their random inputs, on nodes.

`expectation.py` tries four methods in turn, and a `Moment` says which one answered:

    closed form     linearity and independence on the graph (`terms/`), and one row for each family (`families/`);
                    of contractions, joint cumulants of entries, and positions with and without replacement (`arrays/`);
                    what SymPy integrates in time where no row serves, compared with quadrature (`integration.py`)
    quadrature      by Gauss's rules, of one or two random numbers; an integral between kinks (`numeric/`)
    monte carlo     seeded draws on a compiled kernel, with intervals that hold with 99 % probability (`numeric/`)
    none            it is proved that there is no such moment; the reason is told

What is integrated over is given; all else, other random inputs too, stays a symbol. The gradient of the inner trick:

    >>> from symgrad.frontend.text import parse_program
    >>> from symgrad.analysis.expectations.expectation import covariance, expectation, variance
    >>> from symgrad.analysis.expectations.budget import MomentBudget
    >>> from symgrad.ir.notation.printer import str_text
    >>> p = parse_program("x : real; t : real; s : positive; u ~ LogNormal(-s**2/2, s); v ~ Normal(0, 1)"
    ...                   "; g = x/sqrt(stop_gradient(x**2*u - x**2) + x**2)")
    >>> x, t, s, u, v, g = (p[name] for name in "xtsuvg")
    >>> (mean,), (spread,) = expectation([g], over=[u]), variance([g], over=[u])
    >>> print(mean.how, "|", str_text(mean.node), "|", str_text(spread.node))
    closed form | sign(x)*exp(3*s**2/8) | sign(x)**2*(exp(s**2) - exp(3*s**2/4))

At numbers there is an interval too: of a closed form it is rounding, computed with as many digits as it takes.

    >>> print(mean.at({x: -2, s: 0.5}).value)
    -1.0982851403078258

A condition that is not known to hold is told, and kept when numbers are put in.

    >>> from symgrad.ops.scalar.elementary import exp
    >>> from symgrad.ops.scalar.hyperbolic import tanh
    >>> (m,) = expectation([exp(t * v**2)], over=[v])
    >>> str_text(m.node), m.notes
    ('1/sqrt(1 - 2*t)', ('only where 1 - 2*t > 0: elsewhere there is none',))
    >>> m.at({t: 1}).how, m.at({t: 1}).notes
    ('none', ('there is none where 1 - 2*t > 0 does not hold',))

What diverges is no number, and where there is no formula, the label says so. `MomentBudget` bounds what is spent:
without seconds SymPy is not asked, which takes one or two for each integral.

    >>> (m,) = expectation([1 / v], over=[v])
    >>> m.how, m.reason
    ('none', '1/v is not integrable: the density is not 0 at v = 0')
    >>> (m,) = expectation([tanh(t + v)], over=[v], budget=MomentBudget(seconds=0))
    >>> estimate = m.at({t: 1})
    >>> print(m.how, estimate.how, round(float(estimate.value), 6))
    quadrature quadrature 0.5504

Arrays with named sizes: a mask of independent entries in a linear regression.

    >>> p = parse_program("X : real[n, d]; y : real[n]; w : real[d]; M ~ Bernoulli(1/2)[n, d]; r = (X*M)@w - y")
    >>> str_text(variance([p["r"]], over=[p["M"]])[0].node)
    '(X**2)@w**2/4'
"""
