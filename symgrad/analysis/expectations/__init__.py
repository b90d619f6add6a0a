r"""Expectations, variances and covariances of programs over their random inputs, on nodes.

`expectation.py` tries four methods in turn; a `Moment` has the name of the method that succeeded:

    closed form     linearity and independence on the graph (`terms/`), and one rule for each family (`families/`);
                    for contractions, joint cumulants of entries, and indices with and without replacement (`arrays/`);
                    or an integral by SymPy, in limited time and checked by quadrature (`integration.py`)
    quadrature      Gauss rules for one or two random numbers; adaptive between kinks (`numeric/`)
    monte carlo     seeded draws on a compiled kernel, with intervals of 99 % confidence (`numeric/`)
    none            a proof that there is no such moment, with the reason

The caller names the inputs to integrate over; all other inputs, also random ones, stay symbols. An example with a noisy
gradient:

    >>> from symgrad.frontend.text import parse_program
    >>> from symgrad.analysis.expectations.expectation import covariance, expectation, variance
    >>> from symgrad.analysis.expectations.assumptions import MomentOptions
    >>> from symgrad.ir.notation.printer import str_text
    >>> p = parse_program("x : real; t : real; s : positive; u ~ LogNormal(-s**2/2, s); v ~ Normal(0, 1)"
    ...                   "; g = x/sqrt(stop_gradient(x**2*u - x**2) + x**2)")
    >>> x, t, s, u, v, g = (p[name] for name in "xtsuvg")
    >>> (mean,), (spread,) = expectation([g], over=[u]), variance([g], over=[u])
    >>> print(mean.how, "|", str_text(mean.node), "|", str_text(spread.node))
    closed form | sign(x)*exp(3*s**2/8) | sign(x)**2*(exp(s**2) - exp(3*s**2/4))

If all inputs are numbers, a result also has an interval; for a closed form the interval covers rounding, and as many
digits are computed as needed.

    >>> print(mean.at({x: -2, s: 0.5}).value)
    -1.0982851403078258

A condition that is not known to hold becomes a note, and is checked when numbers are known.

    >>> from symgrad.ops.scalar.elementary import exp
    >>> from symgrad.ops.scalar.hyperbolic import tanh
    >>> (m,) = expectation([exp(t * v**2)], over=[v])
    >>> str_text(m.node), m.notes
    ('1/sqrt(1 - 2*t)', ('only where 1 - 2*t > 0: elsewhere there is none',))
    >>> m.at({t: 1}).how, m.at({t: 1}).notes
    ('none', ('there is none where 1 - 2*t > 0 does not hold',))

A divergent integral has no value; the method of the result tells this apart from a missing formula. `MomentOptions`
bounds the time: SymPy takes one or two seconds for each integral; with zero seconds it is not used.

    >>> (m,) = expectation([1 / v], over=[v])
    >>> m.how, m.reason
    ('none', '1/v is not integrable: the density is not 0 at v = 0')
    >>> (m,) = expectation([tanh(t + v)], over=[v], options=MomentOptions(seconds=0))
    >>> estimate = m.at({t: 1})
    >>> print(m.how, estimate.how, round(float(estimate.value), 6))
    quadrature quadrature 0.5504

Arrays with named sizes: a mask of independent entries in a linear regression.

    >>> p = parse_program("X : real[n, d]; y : real[n]; w : real[d]; M ~ Bernoulli(1/2)[n, d]; r = (X*M)@w - y")
    >>> str_text(variance([p["r"]], over=[p["M"]])[0].node)
    '(X**2)@w**2/4'
"""
