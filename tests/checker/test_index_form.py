"""Identities that hold for every size are proved, with the claim spelled in its own way; mistakes are not."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

import symgrad as sg
from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.proofs import prove_equal
from symgrad.checker.program.derivative import derivative_claim
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol
from symgrad.verification.statement import program_of


def program(text: str, *names: str) -> tuple[ProofProgram, list[int]]:
    """Return the steps of a text, and where some of its names stand."""
    listing = sg.parse(text)._listing
    known = {**listing.symbols, **listing.assignments}
    return program_of([known[n] for n in names], list(listing.symbols.values()))


def declared(text: str, symmetric: Sequence[str]) -> str:
    """Declare some of the square matrices of a text symmetric."""
    for name in symmetric:
        text = re.sub(rf"^({name} : .*\])", r"\1 symmetric", text, flags=re.MULTILINE)
    return text


def gradient(
    text: str, wrt: str, claim: str, symmetric: Sequence[str] = (), most: int = 50_000
) -> tuple[str, ...]:
    """Prove the derivative of f in a text; of sum(G*f) if the text declares G."""
    text, of = declared(text, symmetric), "f"
    if "G :" in text:
        text, of = f"{text}\nseeded = sum(G*f)", "seeded"
    steps, (y, at) = program(f"{text}\nclaim = {claim}", of, "claim")
    return prove_equal(derivative_claim(steps, y, wrt, at), most=most)


def equal(text: str, a: str, b: str, symmetric: Sequence[str] = ()) -> tuple[str, ...]:
    """Prove that two expressions are equal."""
    text = declared(text, symmetric)
    steps, (left, right) = program(f"{text}\nleft_ = {a}\nright_ = {b}", "left_", "right_")
    return prove_equal(Equality(steps, left, right))


DATA = "X : real[n, d]\ny : real[n]\nw : real[d]\n"
SQUARE = "X : real[n, n]\nA : real[n, n]\na : real[n]\nb : real[n]\n"
MLP = "X : real[n, d]\nW : real[d, m]\nv : real[m]\ny : real[n]\nH = tanh(X@W)\nr = H@v - y\nf = mean(r**2)"
CROSS = "Z : real[n, k]\nY : real[n, k]\nf = -sum(Y*log_softmax(Z, axis=1))"
NORMAL = "x : real[d]\nm : real[d]\nS : real[d, d]\nu = x - m\nf = -u@inv(S)@u/2 - logdet(2*pi*S)/2"

RIGHT = {
    "least squares": (DATA + "f = mean((X@w - y)**2)", "w", "2*X.T@(X@w - y)/n", ()),
    "least squares by X": (DATA + "f = mean((X@w - y)**2)", "X", "2*outer(X@w - y, w)/n", ()),
    "logistic": (
        DATA + "f = mean(log(1 + exp(-y*(X@w))))",
        "w",
        "-(y*exp(-y*(X@w))/(1 + exp(-y*(X@w))))@X/n",
        (),
    ),
    "cross entropy": (CROSS, "Z", "softmax(Z, axis=1)*sum(Y, axis=1, keepdims=True) - Y", ()),
    "softmax vjp": (
        "x : real[k]\nG : real[k]\nf = softmax(x)",
        "x",
        "softmax(x)*(G - sum(G*softmax(x)))",
        (),
    ),
    "softmax Jacobian": (
        "x : real[k]\nf = softmax(x)",
        "x",
        "diag(softmax(x)) - outer(softmax(x), softmax(x))",
        (),
    ),
    "quadratic form": (SQUARE + "f = a@A@a", "a", "(A + A.T)@a", ()),
    "symmetric quadratic form": (SQUARE + "f = a@A@a", "a", "2*A@a", ("A",)),
    "trace of a power": (SQUARE + "f = trace(X@X@X@X@X)", "X", "5*(X@X@X@X).T", ()),
    "inverse vjp": ("X : real[n, n]\nG : real[n, n]\nf = inv(X)", "X", "-inv(X).T@G@inv(X).T", ()),
    "determinant": (SQUARE + "f = det(A@X@A)", "X", "det(A)**2*det(X)*inv(X).T", ()),
    "logarithm of a determinant": (
        "X : real[n, d]\nf = logdet(eye(d) + X.T@X)",
        "X",
        "2*X@inv(eye(d) + X.T@X)",
        (),
    ),
    "solve": (SQUARE + "f = a@solve(X, b)", "X", "-outer(solve(X.T, a), solve(X, b))", ()),
    "Gaussian, mean": (NORMAL, "m", "inv(S)@(x - m)", ("S",)),
    "Gaussian, covariance": (NORMAL, "S", "(inv(S)@outer(u, u)@inv(S) - inv(S))/2", ("S",)),
    "two layers": (MLP, "W", "2*X.T@(outer(r, v) - outer(r, v)*H**2)/n", ()),
    "norm": ("x : real[n]\nf = norm(x)", "x", "x/norm(x)", ()),
    "absolute": (DATA + "f = sum(abs(X@w - y))", "w", "X.T@sign(X@w - y)", ()),
    "relu": (DATA + "f = sum(relu(X@w))", "w", "where(X@w >= 0, 1, 0)@X", ()),
    "maximum": (DATA + "f = sum(maximum(y, 1))", "y", "where(y > 1, 1, 0)", ()),
    "stopped": ("x : real[n]\nf = sum(x*stop_gradient(x**2))", "x", "x**2", ()),
    "cumulative": (
        "x : real[n]\nc : real[n]\nf = c@cumsum(x)",
        "x",
        "where(reshape(arange(n), (n, 1)) <= arange(n), 1, 0)@c",
        (),
    ),
    "gathered": ("x : real[n]\nids : int[b]\nc : real[b]\nf = sum(c*x[ids])", "c", "x[ids]", ()),
    "logarithm of the determinant of an exponential": (SQUARE + "f = logdet(expm(A@X))", "X", "A.T", ()),
    "product of products": (SQUARE + "f = prod(-3*a*b)", "a", "prod(-3*a*b)/a", ()),
    "cube root": (SQUARE + "f = b@cbrt(a)", "a", "b/(3*cbrt(a)**2)", ()),
    "angle": (SQUARE + "f = sum(atan2(a, b))", "a", "b/(a**2 + b**2)", ()),
    "logistic loss": (
        DATA + "p = 1/(1 + exp(-X@w))\nf = -sum(y*log(p) + (1 - y)*log(1 - p))",
        "w",
        "X.T@(p - y)",
        (),
    ),
    "largest": (
        "x : real[n]\nf = max(x)**2",
        "x",
        "2*max(x)*where(x == max(x), 1, 0)/sum(where(x == max(x), 1, 0))",
        (),
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_claims(name: str) -> None:
    gradient(*RIGHT[name])


MISTAKES = [(name, edit) for name in RIGHT for edit in ("2*({})", "-({})", "({}) + 1", "({})*n0")]
TURNED = [
    (name, "({}).T")
    for name, (text, wrt, _, _) in RIGHT.items()
    if wrt == "X" and f"{wrt} : real[n, n]" in text
]


@pytest.mark.parametrize(("name", "edit"), MISTAKES + TURNED)
def test_mistakes(name: str, edit: str) -> None:
    text, wrt, claim, symmetric = RIGHT[name]
    with pytest.raises(GiveUp, match="differ"):
        gradient(f"n0 : positive\n{text}", wrt, edit.format(claim), symmetric)


def test_where_nothing_is_proved() -> None:
    assert gradient(*RIGHT["least squares"]) == ()
    assert set(gradient(*RIGHT["norm"])) == {"sum(x**2) = 0"}
    assert any(c.endswith("is singular") for c in gradient(*RIGHT["inverse vjp"]))


WRONG = {
    # Two entries of x are the same one where i = j: a kink that no choice of x avoids.
    "pairs": (
        "x : real[n]\nD = reshape(x, (n, 1)) - x\nf = sum(where(D > 0, x, 2*x))",
        "x",
        "sum(where(D >= 0, 1, 2), axis=0)",
    ),
    # A whole number is zero more often than never.
    "a mask of whole numbers": (
        "x : real[n]\nk : int[n]\nf = sum(where(x*k > 0, x, 2*x))",
        "x",
        "where(x*k >= 0, 1, 2)",
    ),
    "a constant mask": ("x : real[n]\nc : real[n]\nf = sum(where(c == 0, 5*x, 7*x))", "x", "7 + 0*x"),
    "a region of zeros": ("x : real\nf = where(relu(x) == 0, 5*x, 7*x)", "x", "7"),
    "positions": ("x : real[n]\nf = sum(where(x*arange(n) == 0, 5*x, 7*x))", "x", "7 + 0*x"),
    "x less itself": (
        "x : real\nf = where(x - stop_gradient(x) > 0, x, 2*x)",
        "x",
        "where(x > x, 1, 2)*0 + 1",
    ),
    "equal entries": ("x : real\ny : real[n]\nf = max(x + 0*y)", "x", "n + 0*x"),
    "a branch without value": ("x : real\nf = where(x > 0, log(x), 0)", "x", "where(x > 0, 1/x, 0)"),
    "a zero everywhere": ("x : real\nf = x/(x - x)", "x", "0"),
    "an axis of one entry": ("x : real[n]\nO : real[n, 1]\nf = sum(x*O)", "x", "sum(O)*x**0/n"),
    # Negative positions are counted from the end, and one_hot has nothing there.
    "negative positions": (
        "x : real[n]\nids : int[b]\nf = sum(x[ids]**2)",
        "x",
        "2*x*sum(one_hot(ids, n), axis=0)",
    ),
    "another order": (SQUARE + "f = trace(X@A)", "X", "A"),
    "a power of a base that may be negative": ("x : real\nk : real\nf = x**k", "x", "k*x**k/x"),
}


@pytest.mark.parametrize("name", WRONG)
def test_claims_that_are_wrong_or_beyond_the_forms(name: str) -> None:
    with pytest.raises(GiveUp):
        gradient(*WRONG[name])


EQUAL = [
    (SQUARE, "trace(X@A)", "sum(X*A.T)", ()),
    (SQUARE, "inv(X@A)", "inv(A)@inv(X)", ()),
    (SQUARE, "inv(X)@(X@a)", "a", ()),
    (SQUARE, "inv(X + A)@X + inv(X + A)@A", "eye(n)", ()),
    (SQUARE, "det(X.T)", "1/det(inv(X))", ()),
    (SQUARE, "X@A", "(A@X).T", ("X", "A")),
    ("x : real[n]", "sum(softmax(x))", "1", ()),
    ("x : real[n]", "log(softmax(x))", "x - logsumexp(x)", ()),
    ("x : real[n]", "sum((x - mean(x))**2)/n", "mean(x**2) - mean(x)**2", ()),
    ("x : real", "tanh(x)", "2/(1 + exp(-2*x)) - 1", ()),
    ("x : real", "abs(x)**2", "x**2", ()),
    ("x : real", "sqrt(x**2)", "abs(x)", ()),
    ("x : real[n]", "x[::-1][::-1]", "x", ()),
    ("X : real[n, m]", "reshape(reshape(X, (n*m,)), (n, m))", "X", ()),
    ("x : positive[n]", "prod(x)", "prod(x)*exp(log(sum(x)) - log(sum(x)))", ()),
    ("x : real[n]", "log(sqrt(2))*x", "x*log(2)/2", ()),
    ("x : real[n]", "log(sqrt(2)*exp(x))", "log(2)/2 + x", ()),
    ("x : real[n]", "log((2/3)**(1/3))*x", "x*(log(2) - log(3))/3", ()),
    ("x : real[n]", "log(1/sqrt(6))*x", "-x*(log(2) + log(3))/2", ()),
    ("x : real[n]", "sin(1/(x**2 + 2*x + 1))", "sin((x + 1)**(-2))", ()),
    ("x, y : real[n]", "y@(1/(x**2 - 2*x*y + y**2))", "(y - x)**(-2)@y", ()),
    ("x, y : real[n]", "exp(1/(4*x**2 + 12*x*y + 9*y**2)**2)", "exp((2*x + 3*y)**(-4))", ()),
    ("x, y : real[n]", "abs(1/(x**3 + 3*x**2*y + 3*x*y**2 + y**3))", "abs((x + y)**(-3))", ()),
    ("x : real[n]", "cos(1/(sum(x)**2 - 6*sum(x) + 9))", "cos((3 - sum(x))**(-2))", ()),
    ("x : real[n]", "log(1 - 1/(1 + exp(x)))", "x - log(1 + exp(x))", ()),
    ("x : real[n]", "x/cbrt(x)**2", "cbrt(x)", ()),
    (SQUARE, "trace(expm_frechet(X, A)@expm(-X))", "trace(A)", ()),
    (
        SQUARE,
        "expm_frechet(2*X, A)*1 + trace(sinm_frechet(X.T, A)@sinm(2*X).T)",
        "expm_frechet(2*X, A) + trace(A@sinm(2*X.T)@cosm(X.T))",
        (),
    ),
]


@pytest.mark.parametrize(("text", "a", "b", "symmetric"), EQUAL)
def test_equal(text: str, a: str, b: str, symmetric: Sequence[str]) -> None:
    equal(text, a, b, symmetric)
    with pytest.raises(GiveUp):
        equal(f"{text}\nextra : real", f"({a}) + extra*0 + 1", b, symmetric)


POINTWISE = (  # noqa: SIM905
    "sin cos atan erf abs sign floor ceil round relu exp cbrt sigmoid tanh softplus sinh asinh"
).split()
OF_TWO = [
    "maximum({}, 1)",
    "atan2({}, 2)",
    "hypot({}, 1)",
    "clip({}, 0, 1)",
    "where({0} > 0, {0}, 2)",
    "{}**3",
]
OF_MORE = ["gamma({}**2 + 1)", "digamma({}**2 + 1)", "lgamma({}**2 + 1)", "log({}**2 + 1)", "asin({}/9)"]
REDUCED = ["max", "min", "argmax", "argmin", "prod", "logsumexp", "norm", "mean", "sum"]


@pytest.mark.parametrize("f", [*(f"{name}({{}})" for name in POINTWISE), *OF_TWO, *OF_MORE])
def test_the_diagonal_of_a_function_is_the_function_of_the_diagonal(f: str) -> None:
    whole = f"trace({f.format('X')})"
    equal(SQUARE, whole, f"sum({f.format('diag(X)')})")
    for wrong in (f"n*{f.format('X[0, 0]')}", f"sum({f.format('X')})", f.format("trace(X)")):
        with pytest.raises(GiveUp, match="differ"):
            equal(SQUARE, whole, wrong)


@pytest.mark.parametrize("f", REDUCED)
def test_the_diagonal_of_a_reduction_is_that_of_its_rows(f: str) -> None:
    text, whole = "Z : real[n, n, m]", f"trace({f}(Z, axis=2))"
    equal(text, whole, f"sum({f}(einsum('iik->ik', Z), axis=1))")
    for wrong in (f"n*{f}(Z[0, 0])", f"sum({f}(Z, axis=2))", f"sum({f}(einsum('iik->ik', Z), axis=0))"):
        if f != "sum" or wrong.startswith("n") or "einsum" not in wrong:
            with pytest.raises(GiveUp):
                equal(text, whole, wrong)


UNEQUAL = [
    (SQUARE, "X@A", "A@X"),
    (SQUARE, "trace(expm_frechet(X, A)@expm(-X.T))", "trace(A)"),
    (SQUARE, "trace(sinm_frechet(X, A)@cosm(X))", "trace(cosm(X).T@A@cosm(X))"),
    (SQUARE, "trace(X@A@X)", "trace(X@A.T@X)"),
    ("x : real", "x/x*sign(x)**2 + 0*x", "sign(x)**2 + 1 - 1 + 0*x + (x > 0) - (x >= 0)"),
    ("x : real", "sqrt(x**2)", "x"),
    ("x : real", "log(x**2)", "2*log(x) + log(2) - log(3)"),
    ("x : real[n]\ny : real[m]", "sum(x)*sum(y)/n", "sum(x)*sum(y)/m"),
    # What says which position is which has a direction.
    ("x : real[n]", "cumsum(x)", "cumsum(x[::-1])[::-1]"),
    ("x, y : real[n]", "sum(cumsum(x)*y)", "sum(x*cumsum(y))"),
    ("x, y : real[n]", "x[1:]@y[:-1]", "x[:-1]@y[1:]"),
    ("x, y : real[n]", "x[2:]@y[:-2]", "x[:-2]@y[2:]"),
    ("x, y : real[n]", "x[-3:]@y[:3]", "x[:3]@y[-3:]"),
    (SQUARE, "cumsum(X, axis=0)", "cumsum(X.T, axis=1)"),
    (SQUARE, "sum(X[1:, :-1])", "sum(X[:-1, 1:])"),
    (
        SQUARE,
        "sum(X*(reshape(arange(n), (n, 1)) <= arange(n)))",
        "sum(X*(reshape(arange(n), (n, 1)) >= arange(n)))",
    ),
    ("x, y : real[n]\nids : int[n]", "sum(x[ids]*y)", "sum(x*y[ids])"),
    ("x, y : real[n]\nids : int[n]", "sum(where(x[ids] > 0, y, 0))", "sum(where(x > 0, y[ids], 0))"),
]


@pytest.mark.parametrize(("text", "a", "b"), UNEQUAL)
def test_unequal(text: str, a: str, b: str) -> None:
    with pytest.raises(GiveUp):
        equal(text, a, b)


def test_a_length_of_one_broadcasts_and_a_name_does_not() -> None:
    columns = Symbol("O", "real", None, None, ("n", 1))
    row = Symbol("v", "real", None, None, ("m",))
    leaves = (ProofStep("symbol", (), ("O",), ("n", 1)), ProofStep("symbol", (), ("v",), ("m",)))
    steps = (*leaves, ProofStep("mul", (0, 1), (), ("n", "m")), ProofStep("mul", (1, 0), (), ("n", "m")))
    assert prove_equal(Equality(ProofProgram(steps, (columns, row)), 2, 3)) == ()
    other = Symbol("O", "real", None, None, ("n", "k"))
    wrong = (ProofStep("symbol", (), ("O",), ("n", "k")), leaves[1], ProofStep("mul", (0, 1), (), ("n", "m")))
    with pytest.raises(GiveUp, match="broadcast"):
        prove_equal(Equality(ProofProgram(wrong, (other, row)), 2, 2))


def test_the_budget_ends_the_work() -> None:
    text = "x : real[n]\n" + "\n".join(f"u{i} : real[n]" for i in range(8))
    claim = "*".join(f"(x + u{i})" for i in range(8))
    with pytest.raises(GiveUp, match="too many terms"):
        gradient(f"{text}\nf = sum(({claim})**4)", "x", "x", most=2_000)


def test_long_programs_need_no_stack() -> None:
    leaf = ProofStep("symbol", (), ("x",), ("n",))
    steps = (leaf, *(ProofStep("neg", (i,), (), ("n",)) for i in range(5_000)))
    prove_equal(Equality(ProofProgram(steps, (Symbol("x", "real", None, None, ("n",)),)), 0, 5_000))


def test_deep_nests_give_up() -> None:
    leaf = ProofStep("symbol", (), ("x",), ())
    steps = (leaf, *(ProofStep("sin", (i,), (), ()) for i in range(3_000)))
    with pytest.raises(GiveUp, match="deep"):
        prove_equal(Equality(ProofProgram(steps, (Symbol("x", "real", None, None, ()),)), 3_000, 3_000))


@pytest.mark.parametrize(
    ("quotient", "count", "condition"),
    [
        ("det(inv(A))*det(A)", "1", "A is singular"),
        ("(2*x + 3)/(2*x + 3)", "n", "2*x[i] + 3 = 0 for some i"),
        ("(2*x - 3*y)/(2*x - 3*y)", "n", "2*x[i] - 3*y[i] = 0 for some i"),
        ("x/x", "n", "an entry of x = 0"),
        ("sum(x)/sum(x)", "1", "sum(x) = 0"),
        ("(2*sum(x) + 5)/(2*sum(x) + 5)", "1", "2*sum(x) + 5 = 0"),
        ("(x@A@y)/(x@A@y)", "1", "sum(x[i]*A[i, j]*y[j]) = 0"),
        ("det(A.T)/det(A.T)", "1", "A is singular"),
        ("(inv(A.T)@A.T)[0, 0]", "1", "A is singular"),
    ],
)
def test_conditions_as_one_reads_them(quotient: str, count: str, condition: str) -> None:
    declared = "A : real[n, n]\nx, y : real[n]\n"
    program = sg.parse(f"{declared}one = sum({quotient})\ntwo = {count}")
    verdict = sg.equal(program["one"], program["two"])
    assert verdict.status == "proved", verdict
    assert verdict.excluded == (condition,)
