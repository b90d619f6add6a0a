"""How large arrays may be: in declarations, formulas and evaluation; whole numbers that int64 does not hold."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import IndexRangeError, OutOfMemoryError, ShapeError, UsageError
from symgrad.ir import bounds
from symgrad.ir.bounds import MOST_ENTRIES, bytes_text, check_arrays, check_axes
from symgrad.ir.sizes import extent_text, size_max, size_product, size_sum
from symgrad.ir.values import evaluate
from symgrad.ir.values.inputs import converted, distinct

TOO_LONG = ["1152921504606846976", "9223372036854775807", "18446744073709551617", "1e30", "1e3999"]


@pytest.mark.parametrize("size", TOO_LONG)
@pytest.mark.parametrize(
    "text",
    [
        "W : real[SIZE]",
        "W : real[3, SIZE]",
        "y = zeros(SIZE)",
        "x : real; y = broadcast_to(x, (2, SIZE))",
        "y = arange(SIZE)",
        "y = eye(2, SIZE)",
        "k : int; y = one_hot(k, SIZE)",
        "n : int; y = reshape(zeros((4, 0)), (0, SIZE))",
        "v : real[n]; y = zeros(n + SIZE)",
        "v : real[n]; y = zeros(SIZE*n)",
        "v : real[n]; y = zeros(maximum(n, 8*SIZE))",
    ],
)
def test_an_axis_longer_than_any_array_is_refused_where_it_is_written(text, size):
    with pytest.raises(ShapeError, match="is too long") as caught:
        sg.parse(text.replace("SIZE", size))
    assert caught.value.at is not None
    assert "2**60 - 1" in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    "text",
    [
        "zeros((H,))",
        "concatenate((zeros(H), zeros(H)))",
        "kron(zeros(H), ones(4))",
        "reshape(zeros((H, 4)), (-1,))",
        "cumsum(zeros((H, 4)))",
        "take(zeros((H, 4)), 1)",
    ],
)
def test_computed_lengths_too(text):
    half = str(2**59)
    if text == "zeros((H,))":
        assert sg.parse(f"y = {text.replace('H', half)}")["y"].shape == (2**59,)
        return
    with pytest.raises(ShapeError, match="too long"):
        sg.parse(f"y = {text.replace('H', half)}")


def test_in_python():
    for build in (
        lambda: sg.tensor("W", (10**30,)),
        lambda: sg.arrays.zeros(2**60),
        lambda: sg.arrays.arange(2**64),
        lambda: sg.nn.one_hot(sg.tensor("k", (), "int"), 10**5000),
    ):
        with pytest.raises(ShapeError, match="too long"):
            build()
    with pytest.raises(UsageError, match="an axis of length about -1e5000"):
        sg.arrays.zeros(-(10**5000))
    assert sg.arrays.zeros(MOST_ENTRIES).shape == (MOST_ENTRIES,)
    x = sg.tensor("x", (3,))
    with pytest.raises(IndexRangeError, match="index about 1e5000 for axis 0"):
        x[10**5000]
    with pytest.raises(IndexRangeError, match="no index: the axis is empty"):
        sg.arrays.zeros(0)[0]


@pytest.mark.parametrize("end", [2**31, 2**60 - 1, 2**60, 2**63 - 1, 2**63, 2**64, 2**64 + 1, 10**400])
@pytest.mark.parametrize("size", [3, "n"])
def test_ends_of_slices_beyond_everything_are_pythons(end, size):
    x = sg.tensor("x", (size,))
    values = np.arange(3.0)
    for s in (
        slice(end, None),
        slice(None, end),
        slice(-end, None),
        slice(None, -end),
        slice(None, None, end),
        slice(None, None, -end),
        slice(end, None, -1),
        slice(-end, end, end),
    ):
        assert np.array_equal(x[s](x=values), values[s]), s


def test_the_bound_itself():
    check_axes((MOST_ENTRIES, "n", size_sum(["n", MOST_ENTRIES])))
    check_arrays([(MOST_ENTRIES,), (2**30, 2**29), ("n", "m")], {"n": 2**30, "m": 2**29})
    for shape, sizes in (
        ((MOST_ENTRIES + 1,), {}),
        ((2**30, 2**30), {}),
        (("n", "m"), {"n": 2**30, "m": 2**30}),
        (("n", "m", 0), {"n": 2**30, "m": 2**30}),  # as in NumPy
        ((size_product(["n", "n"]),), {"n": 2**30}),
    ):
        with pytest.raises(ShapeError, match="entries"):
            check_arrays([shape], sizes)
    check_arrays([("n", 2**59)], {})  # not known, and not looked at
    with pytest.raises(ShapeError, match=r"max\(n - 2, 0\).* has .* entries for n = 1152921504606846978"):
        check_arrays([(size_max(size_sum(["n", -2]), 0), 2)], {"n": 2**60 + 2})
    with pytest.raises(ShapeError, match="n - 5 is -2 long for n = 3"):
        check_arrays([(size_sum(["n", -5]),)], {"n": 3})


@pytest.mark.parametrize("exponent", [1, 5, 23, 24, 25, 99, 100, 4299, 4300, 10_000])
def test_numbers_in_messages(exponent):
    for value in (10**exponent, 10**exponent - 1, 9 * 10**exponent):
        shown = extent_text(value)
        assert shown == str(value) if value < 10**24 else shown.startswith("about 1e")
        digits = exponent - (value == 10**exponent - 1)
        assert value < 10**24 or shown == f"about 1e{digits}"
        assert extent_text(-value) == (f"-{shown}" if value < 10**24 else shown.replace("1e", "-1e"))


def test_bytes_in_messages():
    assert [bytes_text(n) for n in (0, 2**20, 3 * 2**40, 2**63)] == [
        "0 bytes",
        "1.0 MiB",
        "3.0 TiB",
        "8.0 EiB",
    ]
    assert bytes_text(10**5000 // 10**4980) != ""


class TestEvaluation:
    def test_more_entries_than_arrays_have(self):
        y = sg.parse("v : real[n]; x : real; y = sum(zeros((n, n, n)) + x)")["y"]
        assert y(v=np.ones(3), x=2.0) == 54
        with pytest.raises(
            ShapeError, match=r"shape \(n, n, n\) has 1152921504606846976 entries for n = 1048576"
        ):
            y(v=np.ones(2**20), x=1.0)

    def test_sizes_by_name(self):
        e = sg.arrays.zeros(("m", "m"))
        assert e(m=2).shape == (2, 2)
        for m in (-1, 2**60, 10**5000):
            with pytest.raises(ShapeError, match="the size m is"):
                e(m=m)
        with pytest.raises(ShapeError, match="entries"):
            e(m=2**31)

    @pytest.mark.parametrize(
        "text",
        [
            "cumsum(zeros(SIZE) + x)",
            "zeros(SIZE)",
            "arange(SIZE)*x",
            "eye(SIZE, 2)",
            "max(zeros(SIZE)*x)",
            "sum(zeros(SIZE))",
            "prod(ones(SIZE))",
            "concatenate((zeros(SIZE), ones(3)))",
            "zeros((SIZE, 1))*broadcast_to(x, (1, 512))",
        ],
    )
    def test_what_memory_does_not_hold(self, text):
        y = sg.parse(f"x : real; y = {text.replace('SIZE', str(2**50))}")["y"]
        with pytest.raises(OutOfMemoryError) as caught:
            y(x=1.0) if "x" in text.replace("max", "") else y()
        assert isinstance(caught.value, MemoryError)
        assert caught.value.cure
        assert caught.value.expected

    def test_what_numpy_cannot_allocate_is_ours_too(self, monkeypatch):
        monkeypatch.setattr(bounds, "machine_memory", lambda: sys.maxsize)
        monkeypatch.setattr(evaluate, "machine_memory", lambda: sys.maxsize)
        for text in ("cumsum(zeros(SIZE) + x)", "zeros(SIZE)", "x*arange(SIZE)"):
            y = sg.parse(f"x : real; y = {text.replace('SIZE', str(2**55))}")["y"]
            with pytest.raises(OutOfMemoryError, match="not enough memory for"):
                y(x=1.0) if "x" in text else y()

    def test_loops_that_numpy_cannot_count(self):
        a, b = sg.tensor("a", ("n",)), sg.tensor("b", ("m",))
        y = sg.einsum("i,j->", a, b)
        long = np.broadcast_to(1.0, (2**31,))
        with pytest.raises(ShapeError, match="has 4611686018427387904 entries"):
            sg.linalg.outer(a, b)(a=long, b=long)
        assert y(a=np.ones(3), b=np.ones(4)) == 12
        x, u = sg.symbols("x u")
        column, row = np.broadcast_to(1.0, (2**31, 1)), np.broadcast_to(1.0, (1, 2**31))
        with pytest.raises(ShapeError, match="entries"):
            (x + u)(x=column, u=row)
        with pytest.raises(ShapeError, match="entries"):
            sg.compile(x + u)(column, row)
        with pytest.raises(
            OutOfMemoryError, match=r"results of shape \(1048576, 1048576\), which takes 8.0 TiB"
        ):
            sg.compile(x + u)(column[: 2**20], row[:, : 2**20])

    def test_parts_of_what_is_nowhere_in_memory(self):
        p = sg.parse(f"x : real; k : int; y = (zeros(({2**40}, 3)))[k, 1] + x")
        assert p["y"](x=1.5, k=2**40 - 1) == 1.5
        with pytest.raises(IndexRangeError):
            p["y"](x=1.5, k=2**40)


class TestWholeNumbers:
    @pytest.mark.parametrize(
        "kind", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64, bool]
    )
    def test_dtypes_do_not_wrap_around(self, kind):
        y = sg.parse("k : int; y = k*k*k*k - k - k")["y"]
        for k in (0, 1, 2, 100):
            k = int(kind(k))
            found = y(k=np.array([k], kind))
            assert found.tolist() == [k**4 - 2 * k]
            assert y(k=kind(k)) == k**4 - 2 * k

    @pytest.mark.parametrize("n", [2, 10**3, 10**6, 10**9, 2**62])
    def test_products_go_on_beyond_int64(self, n):
        p = sg.parse("ids : int[n]; k : int; y = prod(ids); s = sum(ids*ids); c = cumsum(ids); z = k*k*k")
        ids = np.full(4, n)
        assert p["y"](ids=ids) == pytest.approx(float(n**4), rel=1e-15)
        assert p["s"](ids=ids) == pytest.approx(float(4 * n**2), rel=1e-15)
        assert np.allclose(p["c"](ids=ids), [float(j * n) for j in range(1, 5)], rtol=1e-15)
        assert p["z"](k=n) == pytest.approx(float(n**3), rel=1e-15)
        # Whole numbers that int64 holds are whole, to the last digit.
        if n**4 < 2**62:
            assert p["y"](ids=ids).dtype == np.int64

    def test_uint64_below_zero(self):
        y = sg.parse("k, m : int; y = k - m")["y"]
        assert y(k=np.uint64(3), m=np.uint64(5)) == -2
        assert y(k=np.uint64(2**63 + 2048), m=np.uint64(2**63)) == 2048

    def test_exact_results_stay(self):
        y = sg.parse("ids : int[n]; y = sum(ids)")["y"]
        assert y(ids=[2**60, 1]) == 2**60 + 1
        assert y(ids=[2**62, -(2**62), 5]) == 5

    def test_sizes_as_numbers(self):
        p = sg.parse("x : real[n]; y = n*(n - 1)*(n - 2)*(n - 3)")
        n = 10**5
        expected = float(n * (n - 1) * (n - 2) * (n - 3))
        assert p["y"](x=np.ones(n)) == pytest.approx(expected, rel=1e-15)
        assert p["y"](x=np.ones(5)) == 120

    def test_sizes_in_numpy_source_do_not_wrap_around(self):
        p = sg.parse("x : real[n]; y = sum(x)*(n*n*n*n); z = x*(n*n*n*n) + ones(n)")
        for name in "yz":
            namespace: dict = {}
            exec(p[name].numpy_source(), namespace)
            x = np.ones(10**5)
            assert np.allclose(namespace["f"](x), p[name](x=x), rtol=1e-15)
            assert np.max(namespace["f"](x)) >= 1e20


def test_repetitions_are_looked_at_once():
    array = np.broadcast_to(np.array([[1], [2]], np.int8), (5, 2, 2**40))
    assert distinct(array).shape == (1, 2, 1)
    made = converted(array, np.dtype(np.float64))
    assert made.shape == array.shape
    assert made.dtype == np.float64
    assert made[3, 1, 2**39] == 2
    assert distinct(np.zeros((0, 3))[:, :2]).shape == (0, 2)
    assert distinct(np.array(3.0)).shape == ()
    y = sg.parse("b : real[n]; k : int[m]; y = b[3] + k[1]")["y"]
    assert y(b=np.broadcast_to(np.int8(2), 2**45), k=np.broadcast_to(np.float32(3), 2**45)) == 5


def test_the_memory_of_this_machine():
    found = bounds.machine_memory()
    assert 2**26 <= found <= sys.maxsize
    if sys.platform == "linux":
        assert found < 2**50
