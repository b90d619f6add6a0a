"""Names of all sorts: every door takes the same ones, and everything that writes them writes what can be read."""

from __future__ import annotations

import keyword
import random
import re
import shutil
import subprocess
import tempfile
import unicodedata
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import sympy

import symgrad as sg
from symgrad.compiler.kernels.artefacts.artefact import write_artefacts
from symgrad.errors import SymgradError
from symgrad.ir.traverse import symbols_of
from tests.fuzz.kind import kind, refused

_WORDS = """
    I E S N O Q pi oo e n t t1 t_1 x x1 x_1 x__1 _x __x x_ lambda_ alpha alpha_1 Gamma beta mathrm left sin sum
    mean real positive int bool Uniform where max min len range print np scipy special f a1 self None True False
    class def match type double _Bool constexpr complex NAN NULL errno unix linux and and_eq xor int64_t size_t
    I_ std main signgam y0 gamma kernel out sin_ stop_gradient T symmetric if_ lambda def_ yield async is print_
    __init__ __debug__ zeros eye shape size 1 1x x.y x+y x;y x\ny */ /* // " ' \\ { } {0} %s $x$ # & < > ]]> --
    x² ½ K µ ſ ﬁ x̂ é é हिन्दी x·y ℘ ª º _ __ 𝛼 名 א ا π ℯ
"""
_KNOWN = [w for w in re.split(r"[ \n]+", _WORDS) if w] + [
    "",
    " ",
    "x y",
    "x\ny",
    "\0",
    "\udcff",
    "a\u202eb",
    "\ufeffx",
    "x" * 300,
]
_CC = shutil.which("gcc") or shutil.which("clang")


def _name(rng: random.Random) -> str:
    choice = rng.random()
    if choice < 0.6:
        return rng.choice(_KNOWN)
    if choice < 0.75:
        return rng.choice(_KNOWN) + rng.choice(["_", "1", "_1", "_x", rng.choice(_KNOWN)])
    if choice < 0.8:
        return rng.choice([*keyword.kwlist, *keyword.softkwlist, *dir(np)])
    plane = rng.choice([0x250, 0x2000, 0xD7FF, 0xFFFF, 0x1FFFF])
    letters = [chr(rng.randrange(1, plane)) for _ in range(rng.randint(1, 3))]
    return rng.choice(["", "x"]) + "".join(letters)


def _taken(make, name: str) -> bool:
    """Tell whether a door takes a name; an error must be one."""
    try:
        made = make(name)
    except SymgradError as error:
        refused(error)
        return False
    return made == name


def _as_symbol(name: str) -> str | None:
    made = sg.symbols(name)
    return None if isinstance(made, tuple) else made.name


def _in_program(name: str) -> str | None:
    return sg.parse(f"{name} : real\n{name}**2").last.inputs[0].name


def _in_sympy(name: str) -> str | None:
    return sg.from_sympy(sympy.Symbol(name) ** 2).inputs[0].name


def _as_size(name: str) -> str:
    return str(sg.tensor("x", (name,)).shape[0])


@kind("hostile-names")
def hostile_names(rng: random.Random) -> None:
    """Each door takes a name or says why not, and all decide alike; then everything writes what has such names."""
    names = [_name(rng) for _ in range(rng.randint(1, 4))]
    for name in names:
        found = [_taken(door, name) for door in (_as_symbol, _in_program, _in_sympy, _as_size)]
        assert len(set(found)) == 1, (name, found)
    known = [name for name in dict.fromkeys(names) if _taken(_as_symbol, name)]
    if known:
        _scalars(rng, known, names)
        if rng.random() < 0.3:
            _arrays(rng, known)


def _scalars(rng: random.Random, known: list[str], names: list[str]) -> None:
    xs = [sg.symbols(name) for name in known]
    total = xs[0] * 2
    for k, x in enumerate(xs):
        total = sg.sin(total) * x + k
    y = rng.choice([total, sg.grad(total, xs[-1])])
    point = [rng.uniform(0.5, 2) for _ in known]
    expected = float(y(**dict(zip(known, point, strict=True))))
    assert sg.parse(str(y), symbols=dict(zip(known, xs, strict=True))).last.same(
        y.canonical() if y.derived else y
    )
    _balanced(y.latex())
    function = rng.choice([*names, "f"])
    read = {s.name for s in symbols_of([(y.canonical() if y.derived else y).node])}
    inputs = [str(s.name) for s in y.inputs if s.name in read]
    try:
        source = y.numpy_source(function)
    except SymgradError as error:
        refused(error)
    else:
        namespace: dict[str, Any] = {}
        exec(source, namespace)
        got = namespace[function](*[point[known.index(n)] for n in inputs])
        np.testing.assert_allclose(got, expected, rtol=1e-12)
    derivation = sg.explain(total, xs[0])
    other = rng.randrange(4)
    if other == 0:
        ElementTree.fromstring(derivation.svg())
    elif other == 1:
        str(derivation).encode()
        derivation.html().encode()
    elif other == 2:
        _balanced(derivation.latex())
    elif rng.random() < 0.3:
        _header([total, y], xs, rng.choice(names), names)


def _arrays(rng: random.Random, known: list[str]) -> None:
    """The same names as those of arrays and of sizes."""
    size = rng.choice(known)
    array = sg.tensor(rng.choice([n for n in known if n != size] or [f"a{size}"]), (size, 3))
    y = sg.sum(sg.arrays.concatenate([array, array[1:]]), axis=1) * sg.size(size)
    value = np.arange(6.0).reshape(2, 3)
    expected = y(value)
    shaped = sg.parse(f"{array.name} : real[{size}, 3]\n{y}").last
    assert shaped.same(y), (str(y), str(shaped))
    _balanced(y.latex())
    namespace: dict[str, Any] = {}
    exec(y.numpy_source(), namespace)
    np.testing.assert_allclose(namespace["f"](value), expected)
    _header([y], [array], size, known)


def _balanced(text: str) -> None:
    depth = 0
    for c in re.sub(r"\\[{}\\]", "", text):
        depth += (c == "{") - (c == "}")
        assert depth >= 0, text
    assert depth == 0, text
    assert text.count(r"\left") == text.count(r"\right"), text
    assert text.count(r"\begin") == text.count(r"\end"), text
    assert all(unicodedata.category(c) not in ("Cc", "Cs") or c == "\n" for c in text), text


def _header(outputs: list[sg.Expr], inputs: list[sg.Expr], function: str, names: list[str]) -> None:
    kernel = sg.compile(outputs, inputs, name=function)
    given = [names[k % len(names)] for k in range(len(outputs))]
    with tempfile.TemporaryDirectory(prefix="symgrad-") as folder:
        (path,) = write_artefacts(kernel, Path(folder) / "k", outputs=given, suffixes=(".h",))
        text = path.read_text(encoding="ascii")
        assert text.count("/*") == text.count("*/") == 1
        parameters = re.findall(r"[ *](\w+)[,)]", text.partition("\n\n")[2].partition(";")[0])
        assert len(set(parameters)) == len(parameters) >= len(inputs) + len(outputs), text
        if _CC:
            (Path(folder) / "main.c").write_text(
                '#include <complex.h>\n#include <math.h>\n#include "k.h"\nint main(void) { return 0; }'
            )
            flags = ("-std=gnu11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only")
            done = subprocess.run(
                [_CC, *flags, "main.c"], cwd=folder, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, (text, done.stderr)
