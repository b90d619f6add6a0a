"""Lists of derivatives are printed in one set of names, called and compiled together."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import symgrad as sg

TEXT = "rho, T : positive\ndelta = rho/322\ntau = 647/T\nf = T*(log(delta) + tau*delta**2)\nh = f + T*delta"
PROGRAM = sg.parse(TEXT)
AT = {"rho": 10.0, "T": 600.0}

LISTS: dict[str, Any] = {
    "gradient": sg.grad(PROGRAM["f"], ["rho", "T"]),
    "gradients": sg.gradients([PROGRAM["f"], PROGRAM["h"]], ["rho", "T"]),
    "vjp": sg.vjp(PROGRAM["f"], ["rho", "T"], 2),
    "jvp": sg.jvp([PROGRAM["f"], PROGRAM["h"]], ["rho"], [1]),
    "hvp": sg.hvp(PROGRAM["f"], ["rho", "T"], [1, 2]),
    "hessian": sg.hessian(PROGRAM["f"], ["rho", "T"]),
    "jacobian": sg.jacobian([PROGRAM["f"], PROGRAM["h"]], ["rho", "T"]),
    "row": sg.jacobian(PROGRAM["f"], ["rho", "T"]),
    "column": sg.jacobian([PROGRAM["f"], PROGRAM["h"]], "rho"),
}


def values(item: Any) -> Any:
    """Return the values of the expressions of nested lists, each by itself."""
    return [values(i) for i in item] if isinstance(item, list) else item(**AT)


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_called(name: str) -> None:
    found = LISTS[name]
    assert isinstance(found, list)
    assert type(found) is sg.results.DerivativeList
    np.testing.assert_allclose(found(**AT), values(found), rtol=1e-13)
    np.testing.assert_array_equal(found(10.0, 600.0), found(**AT))


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_printed_and_is_written_as_source(name: str) -> None:
    found = LISTS[name]
    flat = [e for item in found for e in (item if isinstance(item, list) else [item])]
    lines = str(found).split("\nwhere")[0].splitlines()
    assert len(lines) == len(flat)
    assert found.latex().count(r"\\") >= len(flat) - 1
    space: dict[str, Any] = {"np": np}
    exec(found.numpy_source("f"), space)
    np.testing.assert_allclose(space["f"](*AT.values()), [e(**AT) for e in flat], rtol=1e-13)
    assert str(pickle.loads(pickle.dumps(found))) == str(found)
    assert "html" in found.report().html()


def test_the_titles_say_what_is_differentiated() -> None:
    assert str(LISTS["gradient"]).splitlines() == [
        "df/drho = 647*rho/51842 + T/rho",
        "df/dT = log(delta)",
    ]
    assert [line.split(" = ")[0] for line in str(LISTS["hessian"]).splitlines()] == [
        "d2f/drho drho",
        "d2f/drho dT",
        "d2f/dT drho",
        "d2f/dT dT",
    ]
    assert [line.split(" = ")[0] for line in str(LISTS["jacobian"]).splitlines()] == [
        "df/drho",
        "df/dT",
        "dh/drho",
        "dh/dT",
    ]


def test_lists_by_entries_keep_their_titles() -> None:
    x = sg.tensor("x", (3,))
    found = sg.grad(sg.sum(x**3), [x[0], x[2]])
    assert str(found).splitlines() == ["d/d(x[0]) = 3*x[0]**2", "d/d(x[2]) = 3*x[2]**2"]
    assert found(x=[1.0, 2.0, 3.0]) == [3.0, 27.0]


def test_a_list_is_compiled_and_changed_like_any_list() -> None:
    found = LISTS["gradient"]
    np.testing.assert_allclose(sg.compile(found)(10.0, 600.0), found(10.0, 600.0), rtol=1e-13)
    longer = sg.grad(PROGRAM["f"], ["rho", "T"])
    longer.append(PROGRAM["h"])
    assert len(longer(**AT)) == 3
    assert len(str(longer).splitlines()) == 3
    assert type(found + found) is list


def test_derivatives_up_to_an_order_are_called_in_their_order() -> None:
    found = sg.derivatives(PROGRAM["f"], ["rho", "T"], order=2)
    shown = [e for key, e in found.items() if key]
    np.testing.assert_allclose(found(**AT), [e(**AT) for e in shown], rtol=1e-13)


def test_arrays_of_other_libraries() -> None:
    torch = pytest.importorskip("torch")
    found = LISTS["gradient"](rho=torch.tensor(10.0), T=torch.tensor(600.0))
    assert all(isinstance(v, torch.Tensor) for v in found)
