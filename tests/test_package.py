"""What is published: the readme of the package, and what the source distribution has."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import symgrad

ROOT = Path(symgrad.__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What setup.py gives to setuptools, which need not be there."""
    given: dict[str, Any] = {}
    setuptools = ModuleType("setuptools")
    monkeypatch.setattr(setuptools, "setup", given.update, raising=False)
    monkeypatch.setitem(sys.modules, "setuptools", setuptools)
    runpy.run_path(str(ROOT / "setup.py"))
    return given


def test_links_of_the_published_readme_work_outside_the_tree(described: dict[str, Any]) -> None:
    text = described["long_description"]
    links = re.findall(r"(!?)\[[^]]*\]\(([^)]*)\)", text)
    here = re.findall(r"\]\(([^)]*)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(links) == len(here) > 5
    for (image, link), local in zip(links, here, strict=True):
        kind = "raw" if image else "blob"
        expected = local if "://" in local else f"{PROJECT['urls']['Source']}/{kind}/main/{local}"
        assert link == expected


def test_addresses_are_those_of_one_project() -> None:
    source = PROJECT["urls"]["Source"]
    assert all(url.startswith(source) for url in PROJECT["urls"].values())
    assert {"Source", "Issues", "Changelog", "Documentation"} <= set(PROJECT["urls"])


def test_every_python_from_the_oldest_on_is_named() -> None:
    oldest = int(PROJECT["requires-python"].removeprefix(">=3."))
    named = [int(c.rpartition(".")[2]) for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert named == list(range(oldest, named[-1] + 1))


def test_the_source_distribution_has_what_is_tracked() -> None:
    """All but what is of use in a checkout alone: hidden files."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode or not listed.stdout:
        pytest.skip("not a git checkout")
    lines = [line.split() for line in (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines()]
    grafted = {name for words in lines if words[:1] == ["graft"] for name in words[1:]}
    included = {name for words in lines if words[:1] == ["include"] for name in words[1:]}
    # Those setuptools puts in without being told, and the package by its own patterns of data.
    included |= {"pyproject.toml", "setup.py", "README.md", "MANIFEST.in", *PROJECT["license-files"]}
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    suffixes = {".py", *(Path(p).suffix for p in patterns["package-data"]["symgrad"])} - {""}
    for name in listed.stdout.splitlines():
        path = Path(name)
        if path.parts[0].startswith("."):
            continue
        if path.parts[0] == "symgrad":
            assert path.suffix in suffixes or path.name in patterns["package-data"]["symgrad"], name
        else:
            assert path.parts[0] in grafted or name in included, name
