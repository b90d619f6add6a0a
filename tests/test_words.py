"""Words: no file names the machine it was written on or the place packages come from, and a noun is one class."""

from __future__ import annotations

import ast
import re
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Written in pieces, so that this file passes its own test.
FORBIDDEN = {
    "a package registry's host": re.compile(
        "|".join(
            re.escape(".".join(h))
            for h in [("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com")]
        )
    ),
    "a path of one machine": re.compile(r"(?<![\w./-])/(?:" + "work|root|home/\\w+|Users/\\w+" + ")/"),
}


def findings(text: str) -> list[str]:
    return [
        f"line {number}: {what}: {found[0]}"
        for number, line in enumerate(text.splitlines(), 1)
        for what, pattern in FORBIDDEN.items()
        if (found := pattern.search(line))
    ]


def tracked_files() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    return [path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_file_names_a_registry_or_a_machine() -> None:
    files = tracked_files()
    assert files
    bad: list[str] = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        bad += [f"{path.relative_to(ROOT)}, {finding}" for finding in findings(text)]
    assert not bad, "\n".join(bad)


@pytest.mark.parametrize(
    "text",
    [
        "https://" + ".".join(["files", "pythonhosted", "org"]) + "/x",
        "cd " + "/".join(["", "work", "main"]),
        "see '/" + "root/x'",
    ],
)
def test_a_forbidden_word_is_found(text: str) -> None:
    assert findings("one\n" + text)[0].startswith("line 2: ")


@pytest.mark.parametrize(
    "text", ["frame/work/loop", "the work/rest ratio", "docs/root/x", "https://example.org/work/x"]
)
def test_an_innocent_word_is_not(text: str) -> None:
    assert not findings(text)


# One noun, one class

PACKAGE = ROOT / "symgrad"
SAME_IDEA = {
    "Folder": "a directory that only this user writes to: one file for Windows, one for others",
    "Lane": "what the lowering of an op computes with: any type to it, vectors of LLVM's to the builder",
}
"""Names of two types, and why they are one noun."""


def modules() -> dict[str, ast.Module]:
    """Return the modules of the package, by name."""
    found: dict[str, ast.Module] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


MODULES = modules()


def package_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def defined() -> dict[str, list[str]]:
    """Return the classes, each with the modules that have one of that name."""
    found: dict[str, list[str]] = {}
    for module, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(module)
    return found


def imported() -> set[tuple[str, str]]:
    """Return names and modules that they are imported from by a module of another package."""
    return {
        (alias.name, node.module)
        for module, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("symgrad.")
        if package_of(module) != package_of(node.module)
        for alias in node.names
    }


def origin(name: str, module: str) -> str:
    """Return the module that defines what another one may only hand on."""
    while True:
        further = [
            node.module
            for node in MODULES.get(module, ast.Module([], [])).body
            if isinstance(node, ast.ImportFrom) and node.module in MODULES
            if any((alias.asname or alias.name) == name for alias in node.names)
        ]
        if not further:
            return module
        module = further[0]


def aliases(tree: ast.Module) -> set[str]:
    """Return public names of types that are no classes."""
    targets = [
        target
        for node in tree.body
        for target in (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
    ]
    return {t.id for t in targets if isinstance(t, ast.Name) and re.fullmatch(r"[A-Z][a-z]\w*", t.id)}


def glossary() -> str:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return page.split("\n## Glossary\n")[1]


def test_no_two_classes_have_one_name() -> None:
    twice = {name: places for name, places in defined().items() if len(places) > 1}
    assert not set(twice) - set(SAME_IDEA), twice


def test_what_crosses_packages_and_is_no_class_has_the_name_of_none() -> None:
    """The checker of proofs imports nothing of the rest, and its types of data have names of their own there."""
    classes = defined()
    crossing = {(name, origin(name, module)) for name, module in imported() if name in classes}
    bad = {
        (name, module)
        for name, module in crossing
        if name in aliases(MODULES[module])
        and package_of(module) != "checker"
        and module not in classes[name]
    }
    assert {name for name, _ in bad} <= set(SAME_IDEA), bad


def test_every_class_that_crosses_packages_is_in_the_glossary() -> None:
    classes = defined()
    listed = set(re.findall(r"`(\w+)`", glossary()))
    missing = {
        f"{name} ({module})"
        for name, start in imported()
        if (module := origin(name, start)) in classes.get(name, ()) and module != "symgrad.support.errors"
        if name not in listed
    }
    assert not missing, "\n".join(sorted(missing))


def test_the_glossary_names_classes_that_there_are() -> None:
    said = set(re.findall(r"`([A-Z]\w*[a-z]\w*)`", glossary()))
    assert len(said) > 50
    assert said <= {*defined(), "Form", "Size"}, said - set(defined())


# Limits

TABLES = {
    *("analysis.explain", "api", "checker", "frontend", "pretty", "printing"),
    *("verification", "verification.mistakes"),
}
"""Packages whose limits users meet: all of them stand in ``limits.py``."""

ELSEWHERE = {
    "compiler": "thresholds of speed, each beside the cost that it is measured by",
    "ir, ops, rewrite, autodiff": "bounds of exact arithmetic, in ir/exact.py, and of single rules",
    "interop, apps.cli": "one or two for each file, printed in its errors",
}
"""The others, and why their limits stand where they are read."""

LOOKS_LIKE_ONE = frozenset(
    (
        "MOST",
        "LIMIT",
        "MAX",
        "LARGEST",
        "LONGEST",
        "LONG",
        "FEW",
        "MANY",
        "HIGHEST",
        "DEEPEST",
        "DEPTH",
        "ENOUGH",
    )
)

NO_NAMES = frozenset(("MOST", "MAX", "LIMIT", "MAXIMUM"))
"""What a limit may not be called: that says that it is one, and not of what."""

_BESIDE = "of one law for arrays, beside it"
KEPT = {
    "symgrad.api.claims.shape_matching._LARGEST": "no number: the largest size that is tried, by how many there are",
    "symgrad.analysis.explain.noise.evidence._MOST_DIGITS": "precision, with the two beside it",
    "symgrad.verification.agreement.TOO_FEW": "precision: fewer digits say nothing",
    "symgrad.verification.opaque_ops._ENOUGH_POINTS": "of a sequence of its own, read once",
    "symgrad.verification.search.steps._MANY": "one line of three numbers, a test of how long factoring takes",
    "symgrad.verification.search.steps._FEW": "the same",
    "symgrad.checker.index_form.forms.functions._LARGEST_PRIME": _BESIDE,
    "symgrad.checker.index_form.forms.terms._DEEPEST": _BESIDE,
    "symgrad.checker.index_form.matrix_functions._HIGHEST_POWER": _BESIDE,
    "symgrad.checker.index_form.matrix_functions._HIGHEST_ORDER": _BESIDE,
    "symgrad.checker.index_form.forms.form_conditions._DEEPEST": "of what is printed of a law, beside it",
    "symgrad.checker.index_form.forms.form_conditions._LONGEST": "of what is printed of a law, beside it",
}
"""What looks like a limit and stands where it is read, and why."""


def constants(tree: ast.Module) -> set[str]:
    """Return the names of module constants that are numbers, or several of them."""
    return {
        name.id
        for node in tree.body
        if isinstance(node, ast.Assign) and any(isinstance(n, ast.Constant) for n in ast.walk(node.value))
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name) and name.id.isupper()
    }


def test_limits_that_users_meet_stand_in_tables() -> None:
    stray = {
        f"{module}.{name}"
        for module, tree in MODULES.items()
        if module.startswith(tuple(f"symgrad.{package}." for package in TABLES))
        if not module.endswith(".limits")
        for name in constants(tree)
        if LOOKS_LIKE_ONE & set(name.strip("_").split("_"))
    }
    assert stray == set(KEPT), "\n".join(sorted(stray ^ set(KEPT)))


def test_a_limit_is_named_by_what_it_bounds() -> None:
    named = {
        f"{m}.{name}"
        for m, tree in MODULES.items()
        for name in constants(tree)
        if name.strip("_") in NO_NAMES
    }
    assert not named


def test_a_limit_says_what_it_bounds_or_why_that_number() -> None:
    """Each line of a table has a sentence."""
    for place in sorted(TABLES):
        body = MODULES[f"symgrad.{place}.limits"].body
        numbers = [i for i, node in enumerate(body) if isinstance(node, ast.Assign) and i > 1]
        for i in numbers:
            if ast.unparse(body[i]).startswith("__all__"):
                continue
            said = body[i + 1] if i + 1 < len(body) else None
            assert isinstance(said, ast.Expr), ast.unparse(body[i])
            assert isinstance(said.value, ast.Constant), ast.unparse(body[i])


def test_the_limits_that_a_page_tells_are_those_of_the_tables() -> None:
    page = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .* \| ([\d,]+) \| `([\w.]+)\.(\w+)` \|$", page, re.MULTILINE)
    assert len(rows) > 15
    for number, package, name in rows:
        assert getattr(import_module(f"symgrad.{package}.limits"), name) == int(number.replace(",", "")), name
