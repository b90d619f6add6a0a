"""Recurrences with a longer memory are printed as they are written: F[n] = F[n-1] + F[n-2]."""

from __future__ import annotations

from textwrap import dedent

import pytest

import symgrad as sg
from symgrad.ir.notation.lags import lags_of, with_lags
from symgrad.ir.values.evaluate import evaluate
from tests.autodiff.test_recurrences import close, sized, values_for
from tests.recurrences import RECURRENCES

HEAD = "T : size; a : real; v : real[m]; x : real[T]\n"
PROGRAMS = [
    "F[0] = a\nF[1] = 2\nF[t] = F[t-1] + F[t-2] for t in 2..9",
    "F[0] = a\nF[1] = 2\nF[2] = a**2\nF[t] = F[t-1]*F[t-3] + x[t-3] for t in 3..T + 2",
    "F[0] = a\nF[1] = 2\nF[t] = t*F[t-2] for t in 2..T + 1",
    "F[0] = v\nF[1] = zeros(m)\nF[t] = a*F[t-1] + sin(F[t-2]) for t in 2..5",
    "F[T] = 0\nF[T + 1] = a\nF[t-1] = F[t] - x[t-1]*F[t+1] for t in T..1",
    "F[4] = 0\nF[5] = a\nF[6] = 1\nF[t-1] = t*F[t+2] - F[t+1] for t in 4..1",
    # The other array has one row less, and so its positions are one less.
    "F[0] = a\nF[1] = 2\nG[0] = 1\nF[t+1] = F[t] + G[t-1]*F[t-1]; G[t] = F[t+1] + G[t-1] for t in 1..4",
    "F[0] = 1\nF[1] = a\nG[0] = 2\nG[1] = 0\nF[t] = F[t-1] - G[t-2]; G[t] = F[t]*F[t-1] + G[t-1] for t in 2..4",
    # The letter is the number that the steps read.
    "F[0] = a\nF[1] = 2\nG[0] = 1\nG[t-1] = t*F[t-1] + G[t-2]; F[t] = F[t-2] + G[t-1] for t in 2..4",
    "F[0] = a\nF[1] = 2\nF[t] = t*F[t-2] until F[t] > 9, at most 4",
    "F[1] = a\nF[2] = 3\nF[t-1] = a*F[t] - F[t+1] for t in 1..1",
    # Nothing reads F two steps back, but the first values are there.
    "F[0] = a\nF[1] = 3\nF[t] = 2*F[t-1] for t in 2..4",
]


@pytest.mark.parametrize("lines", PROGRAMS)
def test_programs_are_printed_as_they_are_written(lines: str) -> None:
    p = sg.parse(f"{HEAD}{lines}\ny = sum(F**2)")
    text = str(p)
    assert lines in text
    assert "concatenate" not in text
    assert sg.parse(text)["y"].node is p["y"].node
    assert sg.parse(p["y"].text(expand=True)).last.node is p["y"].node
    for symbol in p["y"].inputs:
        slope = sg.grad(p["y"], symbol)
        again = sg.parse(f"{HEAD}{lines}\n{slope}").last
        both = sized([again.node, slope.node])
        found, wanted = evaluate(both, values_for(both))
        close([found], [wanted])


def test_derivatives_read_the_array_and_are_printed_with_lags() -> None:
    p = sg.parse(RECURRENCES["Fibonacci"])
    assert str(sg.grad(p["y"], "a")).splitlines() == [
        "dy_dF[0] + F_bar[1]",
        "where",
        "  F_bar[8] = dy_dF[9]",
        "  F_bar[9] = 0",
        "  F_bar[n-1] = F_bar[n] + F_bar[n+1] + dy_dF[n] for n in 8..1",
        "  dy_dF = array([0, 0, F[9], 0, 0, 0, 0, 0, 0, F[2]])",
    ]
    slope = sg.grad(sg.parse(dedent(RECURRENCES["autoregression"]))["y"], "a")
    assert str(slope).splitlines()[0] == "sum(x_bar[t]*x[t], t=1..T) + x_bar[0]"


def test_latex() -> None:
    text = sg.parse(RECURRENCES["Fibonacci"])["F"].latex()
    rows = [r"F_{0} &= a", r"F_{1} &= b", r"F_{n} &= F_{n-1} + F_{n-2}, \quad n = 2, \dots, 9", "& F"]
    assert [line.removesuffix(r" \\") for line in text.splitlines()[1:-1]] == rows
    back = sg.parse(dedent(RECURRENCES["Clenshaw's scheme"]))["y"].latex()
    assert r"b_{n + 1} &= 0" in back
    assert r"b_{k-1} &= c_{k-1} + 2 z b_{k} - b_{k+1}, \quad k = n, \dots, 1" in back
    assert r"\bar{F}_{9} &= 0" in sg.grad(sg.parse(RECURRENCES["Fibonacci"])["y"], "a").latex()


def test_a_carry_that_is_read_by_itself_stays_one() -> None:
    """No array has the values of both carries, so the text of the formula has both, and is read as the same node."""
    a = sg.symbols("a")
    (last, before), _ = sg.scan(lambda c, _: ((c[0] + c[1], c[0]), None), (1, a), None, 5)
    y = last * before
    assert "; g[t] = h[t-1] for t in 1..5" in y.text(expand=True)
    assert sg.parse(y.text(expand=True)).last.node is y.node


@pytest.mark.parametrize(
    ("other", "is_one"),
    [
        ("concatenate((a[None], h), axis=0)", True),
        ("concatenate((full(1, a), h), axis=0)", True),
        ("concatenate((b[None], h), axis=0)", False),
        ("concatenate((h, a[None]), axis=0)", False),
        ("concatenate((a[None], g), axis=0)", False),
        ("concatenate((a[None], a[None], h), axis=0)", False),
    ],
)
def test_which_arrays_have_the_values_of_both(other: str, is_one: bool) -> None:
    p = sg.parse(
        f"a, b : real\nh[0] = b; g[0] = a\nh[t] = h[t-1]*b + g[t-1]; g[t] = h[t-1] for t in 1..3\nF = {other}"
    )
    assert (lags_of(p["F"].node) is not None) == is_one
    nodes = [p["F"].node, p["h"].node, p["g"].node]
    changed, _ = with_lags(nodes)
    values = values_for(nodes)
    close(evaluate(changed, values), evaluate(nodes, values))
    assert sg.parse(str(p))["F"].same(p["F"])
