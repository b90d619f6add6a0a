"""Sizes that compiled code cannot count with, or memory not hold: an error says so, no number is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.kernels.artefacts.artefact import write_artefacts
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.compiler.llvm.arrays.driver import FIELDS
from symgrad.errors import OutOfMemoryError, ShapeError
from tests.compiler.kernels.test_artefact import CC, needs_cc
from tests.processes import printed

# Programs of x : real, v : real[n], w : real[m].
PROGRAMS = [
    "sum(zeros(n*m) + x)",
    "sum(cumsum(zeros(n*m) + x))",
    "sum(zeros((n, m)) + x)",
    "zeros(n*m)",
    "outer(v, w)",
    "sum(cumsum(outer(v, w)))",
    "mean(zeros((n, m)) + x)",
    "concatenate((zeros(n*m), v))[1]",
    "reshape(zeros((n, m)) + x, (m, n))[0, 1]",
    "sum(eye(n*m))",
    "sum(arange(n*m))",
    "argmax(zeros(n*m) + x)",
    "zeros(n*m*n*m)[0] + x",
    "sum(full((n, m), x)@full((m, n), x))",
    "sum(kron(v, w)*0.5)",
    "sum(softmax(outer(v, w)))",
    "sum(one_hot(argmax(v), n*m))",
    "sum((zeros((n, m)) + x)[1:, ::-1]*2)",
    "sum(take(cumsum(zeros(n*m) + x), 1))",
    "prod_except(zeros(n*m) + x)[0]",
    "sum(expm(zeros((n*m, n*m)) + x))",
    "n*m*n*m + sum(v)",
    "v[:n*m*n*m*n*m*n*m]",
    "sum(ones((n, 0, m)) + x)",
]

_CHILD = """
import resource, sys
import numpy as np
import symgrad as sg
from symgrad.errors import OutOfMemoryError, ShapeError
used = int(open("/proc/self/statm").read().split()[0])*resource.getpagesize() if sys.platform == "linux" else 2**33
for text in TEXTS:
    p = sg.parse("x : real; v : real[n]; w : real[m]; y = " + text)
    k = sg.compile(p["y"], ["x", "v", "w"])
    small = k(2.0, np.ones(3), np.ones(2))
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, resource.getrlimit(resource.RLIMIT_AS)[1]))
    for n, m in (30, 30), (31, 31), (32, 32), (59, 5), (33, 31), (32, 60):
        n, m = 2**n, 2**m - m//60
        given = 1.0, np.broadcast_to(1.0, (n,)), np.broadcast_to(1.0, (m,))
        try:
            k(*given)
        except (OutOfMemoryError, ShapeError) as error:
            assert error.cure and error.expected, error
        else:
            raise SystemExit(f"{text}: a value for {n}, {m}")
        try:
            k.ufunc(*given)
        except (MemoryError, ValueError):
            pass
        else:
            raise SystemExit(f"{text}: a value of the ufunc for {n}, {m}")
    assert np.allclose(k(2.0, np.ones(3), np.ones(2)), small)
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory hold on Linux")
@pytest.mark.parametrize("part", range(4))
def test_products_that_are_bound_at_a_call(part):
    """In a process of its own, because what it guards against ends the process."""
    texts = PROGRAMS[part::4]
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", _CHILD.replace("TEXTS", repr(texts))],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), (done.stdout + done.stderr)[-3000:]


def compiled(y: str, *inputs: str):
    p = sg.parse(f"x : real; v : real[n]; w : real[m]; y = {y}")
    return sg.compile(p["y"], list(inputs or ("x", "v", "w")))


@pytest.mark.parametrize(
    "y",
    [
        "sum(cumsum(zeros((N, N)) + x, axis=1))",
        "zeros((N, N))",
        "sum(zeros((N, n, N)) + x)",
        "mean(ones((N, N))*x)",
    ],
)
def test_numbers_that_no_call_allows_are_refused_by_the_compiler(y):
    with pytest.raises(ShapeError, match="has 4611686018427387904 entries"):
        compiled(y.replace("N", str(2**31)))


def test_the_message_of_a_call_names_sizes():
    k = compiled("sum(zeros((n, m, n)) + x)")
    with pytest.raises(ShapeError) as caught:
        k(1.0, np.broadcast_to(1.0, 2**25), np.broadcast_to(1.0, 2**20))
    assert caught.value.what == (
        "an array of shape (n, m, n) has 1180591620717411303424 entries for n = 33554432, m = 1048576"
    )
    k = compiled("sum(cumsum(outer(v, w)))")
    with pytest.raises(OutOfMemoryError, match=r"a call of kernel 'kernel', which takes 8\.0 PiB") as caught:
        k(1.0, np.ones(2**10), np.broadcast_to(1.0, 2**39))
    assert isinstance(caught.value, MemoryError)
    k = compiled("outer(v, w)")
    with pytest.raises(OutOfMemoryError, match=r"which takes 2\.0 EiB"):
        k(1.0, np.broadcast_to(1.0, 2**29), np.broadcast_to(1.0, 2**29))
    # A batch that is repeated makes results too large.
    k = compiled("v*x + sum(w)")
    with pytest.raises(ShapeError, match=r"\(1099511627776, 2097152\) has"):
        k(np.broadcast_to(1.0, 2**40), np.broadcast_to(1.0, 2**21), np.ones(3))


@pytest.mark.parametrize("batch", [(), (3,), (3, 5)])
def test_the_message_counts_the_copy_of_an_input(batch):
    """What is not contiguous is copied, one of a batch at a time; here half as much as is computed."""
    k = compiled("sum(cumsum(outer(v, w)))")
    with pytest.raises(OutOfMemoryError, match=r"which takes 1\.5 PiB"):
        k(1.0, np.ones(1), np.broadcast_to(1.0, (*batch, 2**46)))
    with pytest.raises(OutOfMemoryError, match=r"which takes 1\.5 PiB"):
        k(1.0, np.broadcast_to(1.0, (*batch, 2**46)), np.ones(1))


def test_the_memory_that_a_call_takes_is_exact_or_an_error():
    k = cast("Any", compiled("sum(cumsum(outer(v, w)))"))
    assert k.scratch_bytes(n=2**20, m=2**20) >= 2**43
    for n, m in ((2**31, 2**31), (2**60, 1), (2**64 + 1, 1), (10**30, 10**30)):
        with pytest.raises(ShapeError, match=r"(entries|long)"):
            k.scratch_bytes(n=n, m=m)
    both = cast("Any", compiled("sum(cumsum(outer(v, w))*cumsum(outer(v, w), axis=0)[:, 0][0])"))
    with pytest.raises(OutOfMemoryError, match=r"8\.0 EiB or more"):
        both.scratch_bytes(n=2**30, m=2**30 - 1)


def test_kernels_without_a_ufunc():
    k = compiled("zeros(1099511627776)", "x")
    for kernel in (compile_nodes(k.outputs, []), k):
        with pytest.raises(OutOfMemoryError, match=r"8\.0 TiB"):
            kernel(*[1.0] * len(kernel.inputs))


def test_more_than_the_machine_has_is_not_begun():
    """The loop itself refuses what its plan does not allow, results included, before it takes memory."""
    import ctypes

    k = cast("Any", compiled("cumsum(v) + sum(w) + x"))
    given = 1.0, np.ones(1000), np.ones(5)
    expected = k(*given)
    most = [name for name, _ in FIELDS].index("most")
    plan = (ctypes.c_int64 * len(FIELDS)).from_address(k._loop.plan)
    before = plan[most]
    try:
        for limit in (0, 100, 7999):
            plan[most] = limit
            with pytest.raises(OutOfMemoryError):
                k(*given)
            with pytest.raises(MemoryError):
                k.ufunc(*given)
        plan[most] = 8000 + k.scratch_bytes(n=1000, m=5)
        assert np.array_equal(k(*given), expected)
    finally:
        plan[most] = before


def test_places_beyond_int64_of_entries_that_are_there():
    """A step that nothing follows takes part in no place, however large it is."""
    for y in (
        "w[::1152921504606846975]",
        "reshape(v, (n, 1, 1))[::1152921504606846975, :, ::-9223372036854775807]",
    ):
        p = sg.parse(f"v : real[n]; w : real[m]; y = {y}")
        k = sg.compile(p["y"], ["v", "w"])
        assert k(np.arange(1.0, 5), np.arange(1.0, 4)).ravel().tolist() == [1]
    X = sg.tensor("X", ("n", 8))
    assert np.array_equal(sg.compile(X[:: 2**60 - 1])(np.ones((3, 8))), np.ones((1, 8)))


def test_a_size_that_a_place_needs_is_checked_though_no_length_has_it():
    """The start of this slice overflows where its length is 0 all the same."""
    p = sg.parse("v : real[n]; w : real[m]; y = sum(v[maximum(n*n*m - 5, 0):n])")
    k = sg.compile(p["y"], ["v", "w"])
    assert k(np.ones(3), np.ones(0)) == 3
    assert k(np.ones(3), np.ones(1)) == 0
    with pytest.raises((ShapeError, OutOfMemoryError)):
        k(np.ones(2**16), np.broadcast_to(1.0, 2**40))


def test_products_that_a_small_size_is_made_of():
    p = sg.parse("v : real[n]; w : real[m]; y = v[:n*m*n*m]")
    k = cast("Any", sg.compile(p["y"], ["v", "w"]))
    assert k(np.arange(4.0), np.ones(1)).tolist() == [0, 1, 2, 3]
    with pytest.raises(ShapeError, match=r"m\*m\*n\*n is 18446744073709551616 for m = 1073741824, n = 4"):
        k(np.arange(4.0), np.broadcast_to(1.0, 2**30))
    with pytest.raises(ShapeError, match=r"m\*m\*n\*n is 18446744073709551616 for"):
        k.scratch_bytes(n=4, m=2**30)
    assert p["y"](v=np.arange(4.0), w=np.broadcast_to(1.0, 2**30)).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "y",
    [
        "sum(zeros((n, m)) + x)",
        "sum(zeros((n, m, 3)) + x)",
        "sum(zeros((n, 3, m)) + x)",
        "sum(zeros((n, m)) + x, axis=0)",
        "zeros((n, m)) + x",
        "zeros((n, m, 2))*x + 1",
        "sum(zeros((n, 2, m, 2)) + x, axis=(0, 1))",
        "sum(exp(zeros((n, m)) + x)*tanh(zeros((n, 1))))",
        "cumsum(zeros((n, m)) + x, axis=1)",
        "cumsum(zeros((m, n)) + x, axis=0)",
        "prod_except(reshape(zeros((n, m)) + x, (-1,)))",
        "inv(zeros((n, m, m)) + x)",
        "solve(zeros((n, m, m)) + x, zeros((n, m, 2)))",
        "expm(zeros((n, m, m)) + x)",
        "(zeros((n, m, 2)) + x)@(zeros((n, 2, 3)) + x)[:, :, :m]",
    ],
)
def test_enormous_axes_beside_an_empty_one_take_no_time(y):
    """In a process of its own, because the loops that it guards against never end."""
    code = f"""
import numpy as np, symgrad as sg
p = sg.parse({f"x : real; v : real[n]; w : real[m]; y = {y}"!r})
k = sg.compile(p["y"], ["x", "v", "w"])
found = k(2.0, np.broadcast_to(1.0, 2**50), np.ones(0))
print(found.shape if found.ndim else found)
found = k(np.full((3,), 2.0), np.ones(4), np.ones(0))
print(np.array_equal(found[0], p["y"](x=2.0, v=np.ones(4), w=np.ones(0))))
"""
    shape, right = printed(code, timeout=60).splitlines()
    assert right == "True"
    rows = [int(s) if s.strip().isdigit() else s for s in shape.strip("()").split(",")]
    assert 0 in rows or rows == ["0.0"]


def test_batches_of_results_without_entries_take_no_time():
    k = compiled("stack((v, v))*x", "x", "v")
    found = k(np.broadcast_to(1.0, 2**50), np.ones(0))
    assert found.shape == (2**50, 2, 0)


def test_numbers_of_sizes_beyond_int64():
    a, b = sg.tensor("v", ("n",)), sg.tensor("w", ("m",))
    x = sg.symbols("x")
    y = sg.einsum("i,j->", sg.arrays.full("n", x), sg.arrays.full("m", x))
    k = sg.compile(y, [x, a, b])
    assert k(2.0, np.ones(3), np.ones(5)) == 60
    large = np.broadcast_to(1.0, 2**32)
    with pytest.raises((ShapeError, OutOfMemoryError)):
        k(2.0, large, large)


@needs_cc
def test_the_c_function_refuses_products_that_overflow(tmp_path):
    p = sg.parse(
        "v : real[n]; w : real[m]; y = sum(cumsum(zeros(n*m) + 0.5)); z = sum(outer(arange(n), arange(m)))*0.5"
    )
    write_artefacts(sg.compile([p["y"], p["z"]], ["v", "w"], name="f"), tmp_path / "f")
    assert "2**60 entries or more" in (tmp_path / "f.h").read_text()
    (tmp_path / "main.c").write_text(
        """
#include <stdio.h>
#include <limits.h>
#include "f.h"
int main(void) {
  static double v[8];
  double y = -1, z = -1;
  long sizes[][2] = {{3, 4}, {0, 5}, {1L << 31, 1L << 31}, {1L << 32, 1L << 32}, {LONG_MAX, LONG_MAX}, {LONG_MAX, 0},
                     {0, LONG_MAX}, {1L << 60, 1}, {-1, 1L << 60}, {LONG_MIN, LONG_MAX}, {LONG_MIN, LONG_MIN}, {2, 2}};
  for (int i = 0; i < 12; i++) {
    int code = f(v, v, sizes[i][0], sizes[i][1], &y, &z);
    printf("%d ", code);
    if (code == 0) printf("%g %g ", y, z);
  }
}
"""
    )
    command = [CC, "-O1", "main.c", "f.o", "-lm", "-o", "main"]
    if sys.maxsize > 2**32 and sys.platform != "win32":
        subprocess.run(command, cwd=tmp_path, check=True)
        printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
        assert printed == "0 39 9 0 0 0 1 1 1 1 1 1 2 2 2 0 5 0.5 "
