"""Formulas of small arrays against the same formulas written out in scalars, and against NumPy's linear algebra."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import symgrad as sg
from benchmarks.measure import Options, Row, interleaved

__all__ = ["arm", "arm_in_scalars", "elastic", "elastic_in_scalars", "run"]

_LENGTHS = (0.3, 0.4, 0.25, 0.2, 0.1, 0.08)
_AXES = range(3)


def run(options: Options) -> Iterator[Row]:
    points = 200 if options.quick else 20_000
    names = [f"F{i}{j}" for i in _AXES for j in _AXES]
    angles = [f"t{k}" for k in range(len(_LENGTHS))]
    cases = [
        ("arm of six joints, th[6]: value and gradient", arm(), "th", arm_in_scalars(), angles, False, 1.2),
        ("Mooney-Rivlin, F[3,3]: energy and stress", elastic(), "F", elastic_in_scalars(), names, False, 1.2),
        ("Mooney-Rivlin, F[3,3]: and tangent", elastic(), "F", elastic_in_scalars(), names, True, 1.2),
    ]
    for what, arrays, array, scalars, entries, tangent, limit in cases:
        options.step(what)
        kernel, peer = _kernel(arrays, [array], tangent), _kernel(scalars, entries, tangent)
        values = np.random.default_rng(0).uniform(0.5, 1.5, (points, *kernel.symbols[0].shape))
        columns = list(np.ascontiguousarray(values.reshape(points, -1).T))
        works: dict[str, Callable[[], object]] = {"a": partial(kernel, values), "s": partial(peer, *columns)}
        np.testing.assert_allclose(kernel(values)[0], peer(*columns)[0], rtol=1e-9)
        found = interleaved(works, options.repeats(41), warm=1)
        each = {name: t / points * 1e9 for name, t in found.items()}
        yield Row(f"{what}, {points:,} points", each["a"], "ns each", "in scalars", each["s"], limit)
    options.step("det of 3 x 3")
    kernel = _kernel("F : real[3, 3]\nf = det(F)", ["F"], False)
    values = np.random.default_rng(0).uniform(0.5, 1.5, (points, 3, 3))
    works = {"a": partial(kernel, values), "n": partial(_by_numpy, values)}
    found = interleaved(works, options.repeats(11), warm=1)
    each = {name: t / points * 1e9 for name, t in found.items()}
    yield Row(
        f"det(F) of 3 x 3 and its gradient, {points:,}",
        each["a"],
        "ns each",
        "NumPy det, inv",
        each["n"],
        0.1,
    )


def _by_numpy(values: Any) -> Any:
    determinants = np.linalg.det(values)
    return determinants, determinants[:, None, None] * np.swapaxes(np.linalg.inv(values), 1, 2)


def _kernel(text: str, wrt: Sequence[str], tangent: bool) -> Any:
    p = sg.parse(text)
    slopes = [sg.grad(p["f"], name) for name in wrt]
    more: list[Any] = []
    if tangent:
        more = [sg.hessian(p["f"], wrt[0])] if len(wrt) == 1 else [sg.grad(s, n) for s in slopes for n in wrt]
    return sg.compile([p["f"], *slopes, *more], inputs=list(wrt), effort="high")


def _rotation(k: int, c: str, s: str) -> list[list[str]]:
    """Return a rotation by joint k, about z or about x."""
    if k % 2:
        return [["1", "0", "0"], ["0", c, f"-{s}"], ["0", s, c]]
    return [[c, f"-{s}", "0"], [s, c, "0"], ["0", "0", "1"]]


def arm() -> str:
    """Return the squared distance of the end of an arm from a point, with rotations as 3 x 3 arrays."""
    lines = [f"th : real[{len(_LENGTHS)}]", "p0 = stack([0, 0, 0])", "R0 = eye(3)"]
    for k, length in enumerate(_LENGTHS):
        rows = _rotation(k, f"cos(th[{k}])", f"sin(th[{k}])")
        matrix = ", ".join(f"stack([{', '.join(row)}])" for row in rows)
        lines.append(f"R{k + 1} = R{k}@stack([{matrix}])")
        lines.append(f"p{k + 1} = p{k} + R{k + 1}@stack([{length}, {length / 2}, {length / 3}])")
    lines.append(f"f = sum((p{len(_LENGTHS)} - stack([0.5, 0.2, 0.1]))**2)")
    return "\n".join(lines)


def arm_in_scalars() -> str:
    """Return the same, as someone writes it who knows which entries are 0 and 1."""
    count = len(_LENGTHS)
    lines = [f"t{k} : real" for k in range(count)]
    R = [["1" if i == j else "0" for j in _AXES] for i in _AXES]
    p = ["0"] * 3
    for k, length in enumerate(_LENGTHS):
        lines += [f"c{k} = cos(t{k})", f"s{k} = sin(t{k})"]
        M = _rotation(k, f"c{k}", f"s{k}")
        turned = [["0"] * 3 for _ in _AXES]
        for i in _AXES:
            for j in _AXES:
                pairs = [(R[i][m], M[m][j]) for m in _AXES if "0" not in (R[i][m], M[m][j])]
                terms = [f"({b})" if a == "1" else a if b == "1" else f"{a}*({b})" for a, b in pairs]
                if terms and terms not in (["1"], ["(1)"]):
                    lines.append(f"r{k}_{i}{j} = {' + '.join(terms)}")
                    turned[i][j] = f"r{k}_{i}{j}"
                else:
                    turned[i][j] = "1" if terms else "0"
        R = turned
        for i in _AXES:
            moved = " + ".join(f"{length / (m + 1)}*{R[i][m]}" for m in _AXES)
            lines.append(f"p{k}_{i} = {p[i]} + {moved}")
            p[i] = f"p{k}_{i}"
    lines.append("f = " + " + ".join(f"({a} - {b})**2" for a, b in zip(p, (0.5, 0.2, 0.1), strict=True)))
    return "\n".join(lines)


_ENERGY = "f = 0.3*(J**(-2/3)*I1 - 3) + 0.1*(J**(-4/3)*I2 - 3) + 10*(J - 1)**2"


def elastic() -> str:
    """Return the energy of a Mooney-Rivlin material."""
    return f"F : real[3, 3]\nC = F.T@F\nI1 = trace(C)\nI2 = (I1**2 - trace(C@C))/2\nJ = det(F)\n{_ENERGY}"


def elastic_in_scalars() -> str:
    """Return the same for the nine entries."""
    lines = [f"F{i}{j} : real" for i in _AXES for j in _AXES]
    lines += [f"C{i}{j} = {' + '.join(f'F{k}{i}*F{k}{j}' for k in _AXES)}" for i in _AXES for j in _AXES]
    squares = " + ".join(f"C{i}{j}*C{j}{i}" for i in _AXES for j in _AXES)
    minors = "F00*(F11*F22 - F12*F21) - F01*(F10*F22 - F12*F20) + F02*(F10*F21 - F11*F20)"
    return "\n".join(
        [*lines, "I1 = C00 + C11 + C22", f"I2 = (I1**2 - ({squares}))/2", f"J = {minors}", _ENERGY]
    )
