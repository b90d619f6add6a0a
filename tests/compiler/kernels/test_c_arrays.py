"""Array programs as C99: the bits of machine code for one lane, sizes, names, indices from anywhere, and no memory."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.kernels.array_kernel import ArrayKernel
from symgrad.compiler.kernels.artefacts.artefact import c_text
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.errors import UnsupportedError
from symgrad.ir.graph import symbol
from symgrad.ir.types import Declaration
from tests.compiler.kernels.c_libraries import FUSED, HERE, STRICT, as_one_lane_has_it, library, on_sizes
from tests.compiler.kernels.formulas import same_bits
from tests.compiler.kernels.test_artefact import CC, needs_cc
from tests.compiler.kernels.test_c_names import HOSTILE
from tests.end_to_end.test_random_arrays import program

pytestmark = needs_cc

PROGRAMS = {
    "layer norm": (
        """x : real[n, d]; g : real[d]; b : real[d]
        m = mean(x, axis=1)[:, None]
        y = (x - m)/sqrt(mean((x - m)**2, axis=1)[:, None] + 1e-5)*g + b
        loss = sum(y**2*(1 + y))""",
        ["x", "g", "b"],
    ),
    "cross entropy": (
        """x : real[n, d]; W : real[d, c]; t : int[n]
        z = x@W
        loss = -mean(z[arange(n), t] - logsumexp(z, axis=1))""",
        ["x", "W"],
    ),
    "two layers": (
        """x : real[n, d]; W : real[d, c]; V : real[c, k]; y : real[n, k]
        loss = mean((tanh(x@W)@V - y)**2)""",
        ["W", "V", "x"],
    ),
    "embedding": ("E : real[d, c]; t : int[n]; w : real[c]; loss = sum(sin(E[t]@w)**2)", ["E", "w"]),
    "running sums": ("x : real[n, d]; loss = sum(cumsum(x, axis=0)**2*cumsum(x, axis=1))", ["x"]),
    "extremes": (
        "x : real[n, d]; loss = sum(max(x, axis=1)*argmax(x, axis=1)) + min(x)**3 - prod(x[0])",
        ["x"],
    ),
    "masks": (
        "x : real[n, d]; a : bool[n]; loss = sum(where(a[:, None], exp(x), -x**2)*where(x > 0, x, 1))",
        ["x"],
    ),
    "linear algebra": (
        "A : real[c, c]; u : real[c, k]; S = A@A.T + eye(c); loss = sum(solve(S, u)**2) + logdet(S) + det(A)",
        ["A", "u"],
    ),
    "a density": (
        """A : real[c, c]; u : real[c]; v : real[k, c]
        L = cholesky(A@A.T + eye(c)); z = solve_triangular(L, u, lower=True); Z = solve(L.T, v.T)
        loss = z@z/2 + sum(log(diag(L))) + sum(solve_triangular(A + 9*eye(c), Z)**2)""",
        ["A", "u", "v"],
    ),
    "attention": (
        """Q, K, V : real[k, n, c]
        loss = sum((softmax(Q@swapaxes(K, 1, 2)/2, axis=2)@V)**2)""",
        ["Q", "K", "V"],
    ),
    "a matrix function": ("A : real[c, c]; u : real[c]; loss = sum(expm(A)@u)", ["A", "u"]),
}
SIZES = [
    {"n": 19, "d": 150, "c": 7, "k": 3},
    {"n": 1, "d": 1, "c": 1, "k": 1},
    {"n": 140, "d": 3, "c": 4, "k": 9},
]


def compiled(name: str, dtype: str, accuracy: Any = "high") -> ArrayKernel:
    text, wrt = PROGRAMS[name]
    p = sg.parse(text)
    outputs = [p["loss"], *sg.grad(p["loss"], [p[w] for w in wrt])]
    return cast("ArrayKernel", sg.compile(outputs, dtype=dtype, accuracy=accuracy))


def values(kernel: ArrayKernel, sizes: dict[str, int]) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    found: list[np.ndarray] = []
    for node, kind in zip(kernel.symbols, kernel.kinds, strict=False):
        shape = [sizes[cast("str", s)] for s in node.shape]
        if node.dtype == "int":
            found.append(rng.integers(-1, min(sizes["c"], sizes["d"]), shape))
        else:
            drawn = rng.random(shape) < 0.5 if node.dtype == "bool" else rng.normal(size=shape)
            found.append(drawn.astype(kind))
    return found


def close(found: Any, wanted: Any, rtol: float) -> None:
    for a, b in zip(found, wanted, strict=True):
        x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol * float(np.max(np.abs(y), initial=1e-300)))


SINGLE = ("layer norm", "cross entropy", "embedding", "masks")


@pytest.mark.parametrize(
    ("name", "dtype"), [*((n, "float64") for n in PROGRAMS), *((n, "float32") for n in SINGLE)]
)
def test_the_bits_are_those_of_machine_code_for_one_lane(tmp_path: Path, name: str, dtype: str) -> None:
    """But for LAPACK's factors, which C computes in another order."""
    kernel = compiled(name, dtype, "fast" if name == "masks" else "high")
    function = library(kernel, tmp_path, "-O2", *HERE).k
    for sizes in SIZES:
        given = values(kernel, {**SIZES[0], **sizes})
        own = {s: sizes[s] for s in kernel.sizes}
        found = on_sizes(function, kernel, given, own)
        close(found, cast("Any", kernel(*given)), 1e-11 if dtype == "float64" else 2e-3)
        if name not in ("linear algebra", "a density"):
            for a, b in zip(found, as_one_lane_has_it(kernel, given, own, fused=FUSED), strict=True):
                assert same_bits(a, b)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_exponentials_of_every_size_have_the_bits_of_machine_code(tmp_path: Path, dtype: str) -> None:
    """Of large matrices, which are halved often, tiny ones, zeros of both signs, and of what is no number."""
    p = sg.parse("A : real[n, n]; y = expm(A)")
    kernel = cast("ArrayKernel", sg.compile([p["y"]], [p["A"]], dtype=dtype))
    function = library(kernel, tmp_path, "-O2", *HERE).k
    rng = np.random.default_rng(2)
    cases = ((0, 1.0), (1, 1e-30), (2, 30.0), (5, 0.1), (12, 3.0))
    drawn = [size * rng.normal(size=(n, n)) for n, size in cases]
    drawn += [np.diag([0.5, value, 0.25]) for value in (-0.0, np.nan, -np.inf)]
    drawn.append(np.full((3, 3), -0.0))
    for given in drawn:
        A, n = given.astype(dtype), len(given)
        found, wanted = (
            on_sizes(function, kernel, [A], {"n": n}),
            as_one_lane_has_it(kernel, [A], {"n": n}, fused=FUSED),
        )
        assert same_bits(found[0], wanted[0])
        assert np.all(np.isnan(found[0])) == (n == 0 or not np.all(np.isfinite(A)))


@pytest.mark.skipif(not HERE, reason="every processor of this kind has an instruction for a*b + c")
@pytest.mark.parametrize("name", ["cross entropy", "two layers"])
def test_the_bits_of_processors_that_round_twice(tmp_path: Path, name: str) -> None:
    kernel = compiled(name, "float64")
    given, own = values(kernel, SIZES[0]), {s: SIZES[0][s] for s in kernel.sizes}
    found = on_sizes(library(kernel, tmp_path, "-O1").k, kernel, given, own)
    for a, b in zip(found, as_one_lane_has_it(kernel, given, own, fused=False), strict=True):
        assert same_bits(a, b)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_adds_nothing_up_has_the_bits_of_the_kernel(tmp_path: Path, dtype: str) -> None:
    """Whatever vectors that has, and though options ask for products that are rounded together with sums."""
    p = sg.parse("""x : real[n, d]; w : real[d]; t : int[n]; a : bool[n]
    y = sqrt(x**2 + w**2)/(1 + x[:, ::-1]*w) - x*0.1 + x*w
    z = where(a[:, None], y, x[t])*concatenate([w, w])[:d]; u = max(y, axis=0); i = argmin(z, axis=1)""")
    kernel = cast(
        "ArrayKernel", sg.compile([p[name] for name in "yzui"], [p[name] for name in "xwta"], dtype=dtype)
    )
    function = library(kernel, tmp_path, "-O3", *HERE, "-std=gnu17", "-ffp-contract=fast").k
    rng = np.random.default_rng(1)
    for n, d in ((37, 19), (1, 1), (5, 64)):
        x, w = (rng.normal(size=shape).astype(dtype) for shape in ((n, d), (d,)))
        given = [x, w, rng.integers(-n, n, n), rng.random(n) < 0.5]
        for found, wanted in zip(
            on_sizes(function, kernel, given, {"n": n, "d": d}), kernel(*given), strict=True
        ):
            assert same_bits(found, wanted)


@pytest.mark.parametrize("group", range(3))
def test_random_programs(tmp_path: Path, group: int) -> None:
    """Every op that is not elementwise, with gradients, and sizes 0 and 1 too."""
    made = 0
    for seed in range(300 + 20 * group, 320 + 20 * group):
        drawn = program(seed)
        if drawn is None or made == 6:
            continue
        outputs, given, wanted, sizes = drawn
        kernel = compile_nodes(outputs, list(given), name=f"k{seed}")
        if not isinstance(kernel, ArrayKernel):
            continue
        made += 1
        own = {s: sizes[s] for s in kernel.sizes}
        function = getattr(library(kernel, tmp_path, "-O1", *HERE, name=f"k{seed}"), f"k{seed}")
        close(on_sizes(function, kernel, list(given.values()), own), wanted, 1e-8)
    assert made == 6


def test_products_of_every_shape(tmp_path: Path) -> None:
    """Bits where the kernel for one lane sums in the same order: not along short rows, nor by BLAS."""
    p = sg.parse("""x : real[m, k]; y : real[k, n]; u : real[k, m]; v : real[n, k]
    a = x@y; b = u.T@y; c = x@v.T; d = u.T@v.T""")
    kernel = cast("ArrayKernel", sg.compile([p[name] for name in "abcd"], [p[name] for name in "xyuv"]))
    function = library(kernel, tmp_path, "-O3", *HERE).k
    rng = np.random.default_rng(3)
    for m, n, k in [
        (1, 1, 1),
        (3, 5, 7),
        (33, 17, 600),
        (4, 16, 256),
        (6, 50, 257),
        (2, 3, 0),
        (0, 3, 2),
        (70, 1, 9),
    ]:
        x, y, u, v = (rng.normal(size=shape) for shape in ((m, k), (k, n), (k, m), (n, k)))
        sizes = {"m": m, "n": n, "k": k}
        found = on_sizes(function, kernel, [x, y, u, v], {s: sizes[s] for s in kernel.sizes})
        close(found, [x @ y, u.T @ y, x @ v.T, u.T @ v.T], 1e-12)
        wanted = as_one_lane_has_it(kernel, [x, y, u, v], sizes, fused=FUSED)
        along = {2} if max(m, n) <= 32 and k >= 64 else set[int]()
        for j in {0, 1, 2, 3} - along if m * n * k < 2**18 else set[int]():
            assert same_bits(found[j], wanted[j])


def test_positions_from_anywhere_are_read_as_nan_and_written_nowhere(tmp_path: Path) -> None:
    p = sg.parse("E : real[d, c]; t : int[n]; r = E[t]; loss = sum(r**2)")
    kernel = cast("ArrayKernel", sg.compile([p["r"], sg.grad(p["loss"], p["E"])]))
    function = library(kernel, tmp_path, "-O1", "-ftrapv").k
    table = np.arange(6.0).reshape(3, 2)
    for far in (3, -4, 2**62, -(2**63), 2**63 - 1):
        rows, gradient = on_sizes(function, kernel, [table, np.array([1, far, -1])], {"d": 3, "c": 2, "n": 3})
        assert same_bits(rows, np.array([[2.0, 3.0], [np.nan] * 2, [4.0, 5.0]]))
        assert np.array_equal(gradient[0], [0, 0])
        assert np.array_equal(gradient[1], [4, 6])


def test_what_is_returned(tmp_path: Path) -> None:
    p = sg.parse("x : real[n]; y = cumsum(tanh(x))[2:]; loss = sum(outer(x, x)@cumsum(x))")
    kernel = cast("ArrayKernel", sg.compile([p["y"], p["loss"]]))
    function = library(kernel, tmp_path).k
    x, y, loss = np.ones(4), np.zeros(2), np.zeros(())
    places = [ctypes.c_void_p(a.ctypes.data) for a in (x, y, loss)]
    returned = {n: function(places[0], ctypes.c_int64(n), *places[1:]) for n in (4, -1, 2**61, 2**62, 2**58)}
    assert returned == {4: 0, -1: 2, 2**61: 1, 2**62: 1, 2**58: 1}
    assert loss == pytest.approx(4 * 10)


@pytest.mark.parametrize("k", range(0, len(HOSTILE), 60))
def test_hostile_names_compile_and_stay_names(tmp_path: Path, k: int) -> None:
    names = list(dict.fromkeys(HOSTILE[k : k + 60]))
    half = len(names) // 2
    symbols = [sg.Expr(_symbol(name, (names[half + i],))) for i, name in enumerate(names[:half])]
    total = sum((sg.sum(sg.exp(s)) for s in symbols), sg.Expr(_symbol("v0", ("i0",)))[0])
    symbols.append(sg.Expr(_symbol("v0", ("i0",))))
    kernel = cast("ArrayKernel", sg.compile([total, *sg.grad(total, symbols[:2])], symbols, name=names[3]))
    source, header = kernel.save(tmp_path / "k.c", outputs=[names[-1], names[half], "table"])
    command = [CC, *STRICT, "-shared", "-fPIC", source, "-o", tmp_path / "k.so", "-lm"]
    subprocess.run(command, check=True)
    text = source.read_text(encoding="ascii")
    assert "evil" not in text.replace("evil_int", "").replace("int_evil", "") or "evil(" not in text
    function = header.read_text(encoding="ascii").partition("\nint ")[2].partition("(")[0]
    given = [np.full(1 + i % 3, 0.01 * i) for i in range(len(symbols))]
    sizes = {s: len(given[i]) for i, s in enumerate(kernel.sizes)}
    found = on_sizes(getattr(ctypes.CDLL(str(tmp_path / "k.so")), function), kernel, given, sizes)
    close(found, cast("Any", kernel(*given)), 1e-13)
    check = f'#include "{source}"\n#include "{header}"\n'  # what it defines is what the header declares
    subprocess.run([CC, *STRICT, "-fsyntax-only", "-x", "c", "-"], input=check.encode(), check=True)


def _symbol(name: str, shape: Any) -> Any:
    return symbol(Declaration(name, shape=shape))


def test_names_of_the_files_own_are_no_names_of_arguments(tmp_path: Path) -> None:
    own = "table sizes scratch args turn need block exp fma memset plus whole a0 v0 v1 i0 s0 cell0"
    names = [*own.split(), "k_run", "k", "k_tanh", "k_step_0"]
    p = sg.parse("; ".join(f"{name} : real[n_{name}]" for name in names) + "; q : bool[n_a0]")
    total = sg.sum(sg.where(p["q"], p["a0"], 1.5))
    for name in names:
        total = total + sg.sum(sg.tanh(p[name]))
    kernel = cast("ArrayKernel", sg.compile(total, [p[name] for name in (*names, "q")]))
    given = [
        *(np.linspace(0, 1, 3 + i) for i in range(len(names))),
        np.arange(3 + names.index("a0")) % 2 == 0,
    ]
    sizes = {f"n_{name}": 3 + i for i, name in enumerate(names)}
    (found,) = on_sizes(library(kernel, tmp_path).k, kernel, given, sizes)
    assert same_bits(found, as_one_lane_has_it(kernel, given, sizes, fused=FUSED)[0])


def test_the_source_of_a_program_without_inputs_and_of_truth_values(tmp_path: Path) -> None:
    p = sg.parse(
        "X : real[n, 2]; a : bool[n]; b = X[:, 0] > 0; c = where(a, b, not b); i = argmax(X, axis=1)"
    )
    kernel = cast("ArrayKernel", sg.compile([p["c"], p["i"], p["X"].T, sg.sum(p["X"])]))
    given = [np.array([[1.0, 2.0], [-1.0, -2.0], [0.0, np.nan]]), np.array([True, True, False])]
    given = given if kernel.inputs[0] == "X" else given[::-1]
    found = on_sizes(library(kernel, tmp_path).k, kernel, given, {"n": 3})
    for a, b in zip(found, cast("Any", kernel(*given)), strict=True):
        assert same_bits(a, np.asarray(b))
    nothing = cast("ArrayKernel", sg.compile(sg.sum(sg.arrays.arange(20) ** 2), [], name="none"))
    assert on_sizes(library(nothing, tmp_path, name="none").none, nothing, [], {})[0] == 2470


def test_what_c_has_not_is_named(tmp_path: Path) -> None:
    p = sg.parse("X : real[n, 3]; y = sum(Si(X), axis=0)")
    with pytest.raises(UnsupportedError, match="the code of Si is SciPy's, which C source cannot"):
        sg.compile(p["y"]).save(tmp_path / "k.c")
    assert not list(tmp_path.iterdir())


def test_the_header_asks_for_no_library_and_stands_before_the_source(tmp_path: Path) -> None:
    kernel = compiled("linear algebra", "float64")
    _, header = kernel.save(tmp_path / "k.c")
    assert "-llapack" not in header.read_text()
    _, header = kernel.save(tmp_path / "k.o")
    assert "-llapack -lblas" in header.read_text()
    text = c_text(kernel, "loss", ["value", "by_A", "by_u"])
    subprocess.run([CC, *STRICT, "-fsyntax-only", "-x", "c", "-"], input=text.encode(), check=True)
    assert "int loss(const double *A, const double *u, int64_t c, int64_t k, double *value" in text
