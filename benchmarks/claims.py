"""Corpora of derivatives, right and wrong, as rows for `symgrad verify --batch`.

A corpus is a file of JSON lines; its name, without an ending such as ``_dev``, tells what its rows look like.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import symgrad as sg
from symgrad.errors import SymgradError

__all__ = ["CORPORA", "claims_of", "read_lines", "spelled"]

Record: TypeAlias = "Mapping[str, Any]"
Claim: TypeAlias = "dict[str, Any]"

_DOMAINS = {
    "R": "real",
    "unit": "real(-1, 1)",
    "pos": "positive",
    "positive": "positive",
    "gt1": "real(1, oo)",
}


def read_lines(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def claims_of(corpus: str, records: Iterable[Record]) -> Iterator[Claim]:
    """Yield the claims of a corpus, with ids that differ."""
    seen: dict[str, int] = {}
    for record in records:
        for claim in CORPORA[corpus](record):
            name = claim["id"]
            seen[name] = seen.get(name, 0) + 1
            yield {**claim, "id": name if seen[name] == 1 else f"{name}#{seen[name]}"}


def _fresh(wanted: str, taken: Iterable[str]) -> str:
    names = set(taken)
    while wanted in names:
        wanted += "_"
    return wanted


def _claim(
    name: str,
    declared: Mapping[str, str],
    formula: str,
    wrt: str,
    claim: str,
    expect: bool | None,
    *more: str,
) -> Claim:
    """A row: declarations, further lines, and the formula under a name that is free."""
    of = _fresh("y", [*declared, *re.findall(r"\w+", " ".join([formula, claim, *more]))])
    lines = [*(f"{n} : {domain}" for n, domain in declared.items()), *more, f"{of} = {formula}"]
    found = {"id": name, "program": "\n".join(lines), "of": of, "wrt": wrt, "claim": claim}
    return found if expect is None else {**found, "expect": "true" if expect else "false"}


def _names(*texts: str) -> list[str]:
    """The names that formulas read, in order; those of functions are not among them."""
    found: dict[str, None] = {}
    for text in texts:
        tree = ast.parse(text.strip(), mode="eval")
        called = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
        found.update({n.id: None for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in called})
    return [name for name in found if name != "pi"]


# ------------------------------------------------------------------------------------------------------------- scalars


def _rubi(r: Record) -> Iterator[Claim]:
    declared = dict.fromkeys([r["x"], *r["params"]], "real")
    yield _claim(r["id"], declared, r["F"], r["x"], r["f"], True)


def _rubi_negatives(r: Record) -> Iterator[Claim]:
    declared = dict.fromkeys([r["x"], *r["params"]], "real")
    yield _claim(r["id"], declared, r["F"], r["x"], r["wrong_f"], False)


def _written(expect: bool) -> Callable[[Record], Iterator[Claim]]:
    def rows(r: Record) -> Iterator[Claim]:
        keys = ("id", "program", "of", "wrt", "claim")
        yield {**{k: r[k] for k in keys}, "expect": "true" if expect else "false"}

    return rows


def _diffrules(r: Record) -> Iterator[Claim]:
    declared = dict.fromkeys(_names(r["wrt"], r["f"], r["df"]), "real")
    expect = True if r.get("check", {"status": "true"})["status"] == "true" else None
    yield _claim(r["id"], declared, r["f"], r["wrt"], r["df"], expect)


def _torch(r: Record) -> Iterator[Claim]:
    """Parameters that occur with positive values alone are positive: a threshold below zero is not meant."""
    points: list[dict[str, float]] = r["points"]
    declared = dict.fromkeys([r["wrt"], *r["params"]], "real")
    for name in r["params"]:
        if len(name) > 1 and all(p[name] > 0 for p in points):
            declared[name] = "positive"
    if r["domain_x"] != "unit" or all(abs(p[r["wrt"]]) < 1 for p in points):
        declared[r["wrt"]] = _DOMAINS[r["domain_x"]]
    yield _claim(r["id"], declared, r["f"], r["wrt"], r["df"], True)


def _sympy_diff(r: Record) -> Iterator[Claim]:
    """First derivatives of real formulas; assumptions that have no domain leave a row out."""
    order = re.fullmatch(r"\((\w+), 1\)|(\w+)", r["wrt"][0]) if len(r["wrt"]) == 1 else None
    if r["class"] != "scalar" or order is None:
        return
    wrt = order[1] or order[2]
    try:
        names = _names(wrt, r["f"], r["expected"])
    except SyntaxError:
        return
    declared = dict.fromkeys(names, "real")
    for name, facts in r["assumptions"].items():
        domain = {"positive": "positive", "negative": "real(-oo, 0)", "real": "real"}.get(next(iter(facts)))
        if domain is None or list(facts.values()) != [True]:
            return
        declared[name] = domain
    if {"I", "E", "oo"} & set(names):
        return
    yield _claim(r["id"], declared, spelled(r["f"]), wrt, spelled(r["expected"]), True)


# -------------------------------------------------------------------------------------------------------------- arrays


class _Spelling(ast.NodeTransformer):
    """Functions that programs do not have, by those that they have."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name("mp"), args=args):
                return ast.Call(ast.Name("matrix_power"), args, [])
            case ast.Call(func=ast.Name("frechet_expm"), args=args):
                return ast.Call(ast.Name("expm_frechet"), args, [])
            case ast.Call(func=ast.Name("pinv"), args=[x]):  # of full column rank
                x = ast.unparse(x)
                return ast.parse(f"(inv(({x}).T@({x}))@({x}).T)", mode="eval").body
            case ast.Call(func=ast.Name("Heaviside"), args=[x]):
                return ast.parse(f"where({ast.unparse(x)} > 0, 1, 0)", mode="eval").body
            case ast.Call(func=ast.Attribute(value=x, attr="reshape"), args=sizes):
                return ast.Call(ast.Name("reshape"), [x, ast.Tuple(sizes)], [])
            case _:
                return node


def spelled(text: str) -> str:
    """Return a formula in the notation of programs."""
    tree = ast.parse(text.strip(), mode="eval")
    before = ast.dump(tree)
    tree = _Spelling().visit(tree)
    return text if ast.dump(tree) == before else ast.unparse(ast.fix_missing_locations(tree))


def _arrays(name: str, r: Record, formula: str, claim: str, expect: bool) -> Iterator[Claim]:
    """A formula in matrices: letters are lengths, facts are built in, and G is the cotangent of a result with axes."""
    formula, claim = spelled(formula), spelled(claim)
    lengths = _lengths(formula + claim)
    declared: dict[str, str] = {}
    lines: list[str] = []
    for variable, facts in r["vars"].items():
        shape, _, fact = facts.partition(" ")
        letters = "".join(f"{lengths.get(c, c)}, " for c in shape).rstrip(", ")
        plain = _fresh(f"{variable}0", r["vars"])
        axes = f"[{letters}]" if letters else ""
        if fact == "spd" and variable != r["wrt"]:
            declared[plain] = f"real{axes}"
            lines.append(f"{variable} = {plain}@{plain}.T")
        elif fact in ("sym", "spd"):
            declared[variable] = f"real{axes} symmetric"
        else:
            declared[variable] = ("positive" if fact == "pos" else "real") + axes
    shape = _shape([*(f"{n} : {d}" for n, d in declared.items()), *lines, formula])
    if shape:
        declared["G"] = f"real[{', '.join(map(str, shape))}]"
        formula = f"sum(G*({formula}))"
    yield _claim(name, declared, formula, r["wrt"], claim, expect, *lines)


def _lengths(text: str) -> dict[str, int]:
    """Numbers for the letters, where a formula has numbers for lengths: ``eye(4)``."""
    literal = re.search(r"eye\((\d+)\)", text) or re.search(r"reshape\(\w+, \((\d+), \d+", text)
    if literal is None:
        return {}
    found = {"n": int(literal[1]), "m": 3, "k": 2, "p": 2}
    return {**found, "s": found["n"] * found["p"]}


def _shape(lines: list[str]) -> tuple[object, ...]:
    try:
        return sg.parse("\n".join(lines)).last.shape
    except SymgradError:
        return ()  # the batch says why


def _matrices(r: Record) -> Iterator[Claim]:
    yield from _arrays(r["id"], r, r["f"], r["df"], r["claim"] == "true")


def _tracker_bugs(r: Record) -> Iterator[Claim]:
    """Of each row the right derivative and the wrong one, where they are claims about more than one point."""
    check = r.get("check")
    if check is None or r["order"] != 1:
        return
    complex_point = any("j" in str(v) for v in (r["point"] or {}).values())
    wrong = None if r["wrong"] in (None, "nan") or complex_point else r["wrong"]
    # A number may be the value at the point alone.
    right = (
        None if check["expected_err"] > 1e-6 or (r["point"] and not _names(r["expected"])) else r["expected"]
    )
    for claim, kind in ((right, "expected"), (wrong, "wrong")):
        if claim is None:
            continue
        name, expect = f"{r['id']}/{kind}", kind == "expected"
        if r["lang"] == "numpy":
            yield from _arrays(name, r, r["expr"], claim, expect)
        else:
            declared = dict.fromkeys(_names(r["wrt"], r["expr"], claim), "real")
            yield _claim(name, declared, r["expr"], r["wrt"], claim, expect)


CORPORA: dict[str, Callable[[Record], Iterator[Claim]]] = {
    "rubi": _rubi,
    "rubi_negatives": _rubi_negatives,
    "right_claims": _written(True),
    "wrong_claims": _written(False),
    "diffrules": _diffrules,
    "torch_elementwise": _torch,
    "matrix_identities": _matrices,
    "matrix_wrong_claims": _matrices,
    "sympy_diff": _sympy_diff,
    "tracker_bugs": _tracker_bugs,
}
"""For each corpus what makes claims of a row."""
