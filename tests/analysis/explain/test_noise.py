from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.analysis.explain.derivation import explain
from symgrad.analysis.explain.noise.sample_points import domain_of, draws, value_at
from symgrad.autodiff.vjp import pull_back
from symgrad.errors import (
    NotDifferentiableError,
    NotInProgramError,
    NotScalarError,
    NumberTooLargeError,
    UsageError,
)
from symgrad.frontend.text import parse_program
from symgrad.ir.graph import OPS, as_node, symbol
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import DISTRIBUTIONS, DOMAINS, Declaration, Distribution
from symgrad.ir.values.evaluate import evaluate, evaluate_mp
from symgrad.ops.numpy.calls import array
from tests.analysis.explain.programs import CUTS, ENTERS, FREE, NEVER_TRUE, TRICKS
from tests.counting import counting
from tests.graphs import SMOOTH, inputs, noise, random_graph
from tests.processes import printed


def derive(program, of="y", wrt=("x",)):
    listing = parse_program(program)
    return explain(listing[of], [listing[w] for w in wrt], listing)


@pytest.mark.parametrize("case", ENTERS.values(), ids=ENTERS.keys())
def test_enters(case):
    d = derive(case.program, case.of, [case.wrt])
    verdict = d.noise[case.noise]
    assert (verdict.enters, verdict.rule, verdict.path, verdict.reason) == (
        True,
        case.rule,
        case.path,
        case.reason,
    )
    assert verdict.residual == case.path[0]
    check_path(verdict)
    check_witness(d, verdict)
    chosen = next(r for r in verdict.all_paths if r.matters)
    assert (chosen.path, chosen.rule) == (verdict.path, verdict.rule)
    assert chosen.crosses_stop == (CUTS in verdict.reason)


@pytest.mark.parametrize("case", FREE.values(), ids=FREE.keys())
def test_does_not_enter(case):
    verdict = derive(case.program, case.of, [case.wrt]).noise[case.noise]
    assert (verdict.enters, verdict.reason, verdict.witness) == (False, case.reason, None)


@pytest.mark.parametrize("case", NEVER_TRUE, ids=NEVER_TRUE.keys())
def test_rounding_is_no_witness(case):
    verdicts = derive(NEVER_TRUE[case]).noise.values()
    assert all(v.witness is None for v in verdicts)
    # No rule knows the sum of an arctangent and that of the reciprocal.
    unknown = [v.name for v in verdicts if v.enters is not False]
    assert unknown == (["u"] if case == "an identity of smooth functions" else [])


@pytest.mark.parametrize(
    "declared",
    ["u : positive", "u : nonnegative", "u : real(2, oo)", "u : real(-oo, 3)", "u : real", "u ~ Poisson(2)"],
)
def test_draws_are_beside_the_end_of_an_unbounded_domain_and_far_from_it(declared):
    source = parse_program(f"{declared}\ny = u")["y"]
    domain = domain_of(source)
    found = draws(source, [])
    end = next((e for e in (domain.low, domain.high) if isinstance(e, int | Fraction)), Fraction(0))
    assert all(domain.admits(v) for v in found)
    away = sorted(abs(v - end) for v in found)
    assert away[0] < 1 < 3 < away[-1]


@pytest.mark.parametrize("scale", ["1e12", "1e18"])
@pytest.mark.parametrize(
    "nothing",
    [
        "sin(3*w) - 3*sin(w) + 4*sin(w)**3",
        "cos(3*w) + 3*cos(w) - 4*cos(w)**3",
        "sinh(3*w) - 3*sinh(w) - 4*sinh(w)**3",
        "log(1 + exp(w)) - log(1 + exp(-w)) - w",
        "atan(exp(w)) + atan(exp(-w)) - pi/2",
    ],
)
def test_a_condition_on_nothing_but_rounding_is_no_witness(nothing, scale):
    """However large its scale: at either precision the rounding alone has a sign."""
    for factor in ("1", "7", "0.3"):
        program = f"x : real\nu ~ Normal(0, 1)\nw = {factor}*u\ny = x*where({scale}*({nothing}) >= 0, 1, 2)"
        verdict = derive(program).noise["u"]
        assert (verdict.enters is True, verdict.witness) == (False, None), factor


def check_path(verdict):
    """Every node of a path is an argument of the one before, but for the signs of differences."""
    for reader, read in zip(verdict.path_nodes, verdict.path_nodes[1:], strict=False):
        behind = list(reader.args)
        for node in behind:  # grows
            behind += node.args if node.op.name == "neg" else ()
        assert read in behind


def check_witness(d, verdict):
    """Evaluate the raw gradient at the witness anew, at another precision."""
    witness = verdict.witness
    assert witness is not None
    symbols = {s.name: s for s in symbols_of([d.y])}
    found = []
    with mpmath.workdps(120):
        for draw, claimed in zip(witness.draws, witness.gradients, strict=True):
            point = {**witness.values, verdict.name: draw}
            assert all(domain_of(symbols[name]).admits(value) for name, value in point.items())
            values = {symbols[k]: mpmath.mpf(v.numerator) / v.denominator for k, v in point.items()}
            (gradient,) = evaluate_mp(mpmath.mp, [d.gradient[witness.wrt]], values)
            found.append((gradient, mpmath.mpf(claimed)))
    scale = max(abs(gradient) for gradient, _ in found)
    assert all(abs(gradient - claimed) <= scale * mpmath.mpf("1e-18") for gradient, claimed in found)
    assert abs(found[0][0] - found[1][0]) > scale * mpmath.mpf("1e-100")


@pytest.mark.parametrize(
    "line",
    [
        "y = where(floor(u/4) >= 0, u*x, x)",
        "y = where(x - x > 0, x, u*x)",
        "y = u*relu(x - x + 1) * where(round(p/p) == 1, x, 1)",
        "y = x*u*(2 + sign(abs(v) - abs(v)))",
        "y = where(exp(-1000*p) > 0, u*x, x)",
    ],
)
def test_ties_that_are_exact_hide_nothing(line):
    d = derive("x : real\np : positive\nu ~ Uniform(0.9, 1.1)\nv ~ Normal(0, 1)\n" + line)
    assert d.noise["u"].enters
    check_witness(d, d.noise["u"])


def test_a_tie_that_rounding_decides_is_no_evidence():
    # x/3*3 == x at every point, at no precision.
    d = derive("x : real\nu ~ Uniform(0.9, 1.1)\na = x*u/3*3\ny = where(floor(a - x*u) < 0, u*x, x)")
    assert d.noise["u"].enters is False


def test_undecided_says_so():
    reflected = "digamma(1 - u) - digamma(u) - pi*cos(pi*u)/sin(pi*u)"
    verdict = derive(f"x : real\nu ~ Uniform(0.1, 0.9)\ny = x*({reflected})").noise["u"]
    assert verdict.enters is None  # a rule that knows the reflection would make it False
    assert verdict.reason == (
        "u is read by the pullback of mul; no two draws were found that give different gradients, and no proof "
        "that it cancels"
    )


def test_recurrences_of_functions_are_known():
    verdict = derive("x : real\nu ~ Uniform(0.9, 1.1)\ny = x*(lgamma(u + 1) - lgamma(u) - log(u))").noise["u"]
    assert verdict.enters is False


def test_identities_of_functions_are_known():
    verdict = derive(
        "x : real\nu ~ Uniform(0.9, 1.1)\ny = x*(erf(u) + erfc(u) + sin(u)**2 + cos(u)**2)"
    ).noise["u"]
    assert verdict.enters is False


def test_all_paths_from_the_output_back():
    d = derive("x : real\nu ~ Uniform(0.9, 1.1)\na = x*u\nb = exp(a)\ny = sin(b)")
    readings = d.noise["u"].all_paths
    assert [(r.rule, r.residual, r.path) for r in readings] == [
        ("sin", "b", ("b", "a", "u")),
        ("exp", "b", ("b", "a", "u")),
        ("mul", "u", ("u",)),
    ]
    assert [r.number for r in readings] == [1, 2, 3]
    assert all(r.matters for r in readings)


def test_several_wrt_share_a_verdict():
    d = derive("x : real\nw : real\nu ~ Uniform(0.9, 1.1)\ny = x**2 + w*u", wrt=["x", "w"])
    assert d.noise["u"].enters
    witness = d.noise["u"].witness
    assert witness is not None
    assert witness.wrt == 1
    assert derive("x : real\nw : real\nu ~ Uniform(0.9, 1.1)\ny = x**2 + w*u").noise["u"].enters is False


def test_second_order():
    listing = parse_program("x : real\nu ~ Uniform(0.9, 1.1)\nv ~ Normal(0, 1)\ny = x**3*u + x*v")
    (slope,) = pull_back([listing["y"]], [as_node(1)], [listing["x"]]).gradients
    first = explain(listing["y"], [listing["x"]], listing)
    second = explain(slope, [listing["x"]], listing)
    assert [v.enters for v in first.noise.values()] == [True, True]
    assert [v.enters for v in second.noise.values()] == [True, False]
    assert second.noise["u"].path == ("u",)
    assert second.noise["v"].reason.startswith("v enters ")


def test_second_order_of_a_stopped_factor():
    # d/dx of stop_gradient(x)*x is stop_gradient(x): its own derivative is zero.
    listing = parse_program("x : real\nu ~ Uniform(0.9, 1.1)\ny = stop_gradient(x*u)*x")
    (slope,) = pull_back([listing["y"]], [as_node(1)], [listing["x"]]).gradients
    d = explain(slope, [listing["x"]], listing)
    assert d.nothing_reasons == (
        "x reaches stop_gradient(x*u) only inside stop_gradient(x*u), whose derivative edge is cut",
    )
    assert d.noise["u"].enters is False


def test_without_a_listing():
    x, u = symbol(Declaration("x")), noise()
    y = OPS["exp"](OPS["mul"](x, u))
    verdict = explain(y, [x], None).noise["u"]
    assert (
        verdict.reason
        == "the pullback of exp reads the forward value exp(x*u), which depends on u through x*u"
    )


# -- kinds of nothing -------------------------------------------------------------------------------------------------

NOTHING = {
    "y = stop_gradient(x**2) + n": (
        "stopped",
        "x reaches y only inside stop_gradient(x**2), whose derivative edge is cut",
    ),
    "y = w**2": ("disconnected", "y does not depend on x"),
    "y = 2*floor(x) + w": (
        "zero",
        "every derivative of y along the paths to x is zero: x reaches y only through floor(x), where the derivative "
        "is zero",
    ),
    "y = where(x > 0, w, 1)": (
        "zero",
        "every derivative of y along the paths to x is zero: x reaches y only through x > 0, where the derivative "
        "is zero",
    ),
}


@pytest.mark.parametrize("line", NOTHING)
def test_nothing_has_a_reason(line):
    d = derive(f"x : real\nw : real\nn : int\n{line}")
    assert (str(d.nothing[0]), d.nothing_reasons[0]) == NOTHING[line]
    assert not d.steps  # what leads nowhere is no step


def test_no_tangent():
    d = derive("x : real\nn : int\ny = x*n", wrt=["n", "x"])
    assert d.nothing_reasons == ("n is an integer: there is no direction to move it in", None)


# -- steps ------------------------------------------------------------------------------------------------------------


def test_steps_of_the_inner_trick():
    steps = derive(TRICKS, "z_inner").steps
    assert [(s.number, s.rule, s.linear, s.reads, s.target) for s in steps] == [
        (1, "sqrt", False, ("z_inner",), "stop_gradient(yu - y) + y"),
        (2, "add", True, (), "y"),
        (3, "pow", False, ("x",), "x"),
    ]
    first, _, last = steps
    assert first.equation == "z_inner = sqrt(stop_gradient(yu - y) + y)"
    assert (first.partial, first.incoming, first.produced) == ("1/(2*z_inner)", "1", "1/(2*z_inner)")
    assert (last.equation, last.partial) == ("y = x**2", "2*x")


def test_texts_of_shared_graphs_stay_short():
    lines = ["x : real", "a0 = sin(x)"] + [f"a{i} = a{i - 1}*a{i - 1} + cos(a{i - 1})" for i in range(1, 60)]
    listing = parse_program("\n".join(lines))
    d = explain(listing["a59"], [listing["x"]], None)  # no names: the whole expression has 3**59 nodes
    for s in d.steps:
        assert max(map(len, (s.equation, s.partial, s.produced, s.target))) <= 60


def test_canonical_keeps_stops_and_values_drop_them():
    listing = parse_program("x : real\ny = stop_gradient(x)*x")
    d = explain(listing["y"], [listing["x"]], listing)
    assert d.values == (listing["x"],)
    assert d.canonical == (OPS["stop_gradient"](listing["x"]),)


def test_notes_name_the_points_that_were_added():
    assert derive(TRICKS, "z_outer").notes == ("also defined at x = 0",)


# -- errors -----------------------------------------------------------------------------------------------------------


def test_not_in_program():
    listing = parse_program("x : real\nalpha : real\ny = x**2")
    stranger = symbol(Declaration("alhpa"))
    with pytest.raises(NotInProgramError, match="'alhpa' does not occur in the program") as caught:
        explain(listing["y"], [stranger], listing)
    assert caught.value.cure == "did you mean 'alpha'?"


def test_not_scalar_and_no_number_and_nothing_to_do():
    listing = parse_program("x : real\nc = x > 0\ny = x")
    with pytest.raises(NotDifferentiableError, match="'c' is a truth value"):
        explain(listing["c"], [listing["x"]], listing)
    with pytest.raises(UsageError, match="nothing to differentiate by"):
        explain(listing["y"], [], listing)
    vector = symbol(Declaration("X", shape=(3,)))
    with pytest.raises(NotScalarError, match="'X' has shape"):
        explain(vector, [vector], None)


# -- properties -------------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6))
def test_never_contradicts_many_draws(seed):
    """Float64 at many draws: a clear difference that higher precision confirms forbids False; True needs a witness."""
    xs = inputs(2)
    u = noise()
    y = random_graph(seed, [*xs, u], size=9, ops=[*SMOOTH, "floor", "sign"], stops=0.25)
    d = explain(y, xs, None)
    verdict = d.noise.get("u")
    if verdict is None:
        return
    if verdict.enters:
        check_path(verdict)
        check_witness(d, verdict)
        return
    rng = np.random.Generator(np.random.Philox(key=seed))
    point = {x: Fraction(int(rng.integers(-2000, 2000)) * 2 + 1, 1000) for x in xs}
    spread = [Fraction(9, 10) + Fraction(2 * i + 1, 321) for i in range(32)]
    values = {x: float(v) for x, v in point.items()} | {u: np.array([float(s) for s in spread])}
    try:
        gradients = evaluate(list(d.gradient), values)
    except NumberTooLargeError:
        return
    for gradient in gradients:
        column = np.broadcast_to(gradient, (32,))
        if not np.isfinite(column).all() or np.ptp(column) <= 1e-6 * np.abs(column).max():
            continue
        if verdict.enters is False:
            assert not differs_exactly(d, point, u, spread, column)


def differs_exactly(d, point, u, spread, column):
    """Tell whether the gradients differ by the same amount at two precisions: rounding would not."""
    low, high = int(np.argmin(column)), int(np.argmax(column))
    gaps = []
    for digits in (60, 120):
        with mpmath.workdps(digits):
            sides = []
            for i in (low, high):
                at = {s: mpmath.mpf(v.numerator) / v.denominator for s, v in {**point, u: spread[i]}.items()}
                sides.append(evaluate_mp(mpmath.mp, list(d.gradient), at))
            gaps.append([b - a for a, b in zip(*sides, strict=True)])
    return any(g and abs(rough - g) <= abs(g) * mpmath.mpf("1e-20") for rough, g in zip(*gaps, strict=True))


@given(st.integers(0, 10**6), st.sampled_from(sorted(DOMAINS)))
def test_points_lie_in_the_domain(index, name):
    s = symbol(Declaration("s", DOMAINS[name]))
    value = value_at(s, index)
    assert isinstance(value, bool) if name == "bool" else domain_of(s).admits(value)


PARAMETERS = {
    "Uniform": (Fraction(9, 10), 5),
    "Normal": (1, 2),
    "LogNormal": (0, 1),
    "Exponential": (3,),
    "Gamma": (2, 1),
    "Beta": (2, 3),
    "Laplace": (0, 1),
    "Bernoulli": (Fraction(1, 2),),
    "Poisson": (4,),
    "Cauchy": (0, 1),
    "Categorical": (array([as_node(Fraction(n, 10)) for n in (2, 5, 3)]),),
    "Permutation": (5,),
}


@pytest.mark.parametrize("family", sorted(DISTRIBUTIONS))
def test_draws_lie_in_the_support(family):
    s = symbol(Declaration("s", distribution=Distribution(family, PARAMETERS[family])))
    found = draws(s, [1, Fraction(3, 2), -7])
    assert len(found) == len(set(found)) >= 2
    assert all(domain_of(s).admits(v) for v in found)
    assert domain_of(s).kind == "int" or Fraction(3, 2) + Fraction(1, 1000) in found or family == "Beta"


def test_ten_thousand_equations_take_no_more_for_each():
    lines = ["x : real", "u ~ Uniform(0.9, 1.1)", "a0 = x*u"]
    lines += [
        f"a{i} = sin(a{i - 1}) + x*u" if i % 2 else f"a{i} = a{i - 1} + stop_gradient(a{i - 1})*0.25"
        for i in range(1, 6000)
    ]
    listing = parse_program("\n".join(lines))
    with counting() as calls:
        d = explain(listing["a5999"], [listing["x"]], listing)
    assert len(d.steps) > 9_000
    assert d.noise["u"].enters
    assert len(d.noise["u"].all_paths[0].path) > 1
    assert calls.count < 30_000_000  # 1800 for each equation, of a program of any length


def test_the_same_for_every_hash_seed():
    code = (
        "from symgrad.analysis.explain.derivation import explain\n"
        "from symgrad.frontend.text import parse_program\n"
        "from symgrad.printing.texts.derivation import derivation_svg, derivation_text\n"
        "from tests.analysis.explain.programs import TRICKS\n"
        "p = parse_program(TRICKS)\n"
        "for name in ('z', 'z_inner', 'z_exact'):\n"
        "    d = explain(p[name], [p['x']], p)\n"
        "    print(derivation_text(d), derivation_svg(d))\n"
    )
    runs = [printed(code, env={"PYTHONHASHSEED": seed, "PATH": ""}) for seed in ("1", "2")]
    assert runs[0] == runs[1]
    assert "z_inner, differentiated by x" in runs[0]


@pytest.mark.parametrize(
    "text",
    [
        # At u = 0 the comparison with NaN is false in a kernel, so the gradient does change there.
        "x, y : real\nu ~ Poisson(3)\nz = where(stop_gradient(sqrt(x)) > sin(u/u), x, x*y)",
        "x : real\nu ~ Normal(0, 1)\nz = where(log(u) - log(u) >= 0, x, 2*x)",
    ],
)
def test_a_condition_that_may_compare_nan_is_not_simplified_away(text: str) -> None:
    p = parse_program(text)
    assert explain(p["z"], [p["x"]], p).noise["u"].enters is not False


@pytest.mark.parametrize(
    "constant", ["sigmoid(u) + sigmoid(-u)", "sin(u)**2 + cos(u)**2", "cosh(u)**2 - sinh(u)**2"]
)
def test_noise_whose_slope_vanishes_identically_does_not_enter(constant: str) -> None:
    program = sg.parse(f"x : real; u ~ Normal(0, 1); y = x*({constant})")
    assert sg.explain(program["y"], "x").noise["u"].enters is False
