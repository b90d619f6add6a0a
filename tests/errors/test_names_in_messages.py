"""Functions, options and commands that texts of the package name are there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from operator import attrgetter

import click

import symgrad as sg
from symgrad.apps.cli import main
from symgrad.errors import SymgradError
from tests.errors.sites import ROOT

_NAMED = re.compile(r"(?<![\w.])sg\.([A-Za-z_][\w.]*[A-Za-z0-9])(?![\w{])")


def texts() -> Iterator[tuple[str, str]]:
    """Yield every text in the source that is no docstring, with the module that it is in."""
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                yield path.relative_to(ROOT).as_posix(), node.value


def is_there(name: str) -> bool:
    try:
        attrgetter(name)(sg)
    except AttributeError:
        return False
    except SymgradError:  # it belongs to a framework that is not installed here
        return True
    return True


def test_functions_that_a_text_names_are_public() -> None:
    named = {(module, name) for module, text in texts() for name in _NAMED.findall(text)}
    assert len(named) > 40
    assert sorted((module, name) for module, name in named if not is_there(name)) == []


def test_options_and_commands_that_a_text_names_are_there() -> None:
    known = {
        name
        for command in main.commands.values()
        for option in command.params
        if isinstance(option, click.Option)
        for name in (*option.opts, *option.secondary_opts)
    } | {"--help", "--version"}
    options: set[tuple[str, str]] = set()
    commands: set[tuple[str, str]] = set()
    for module, text in texts():
        if module.startswith(
            (
                "apps/cli/",
                "api/",
                "frontend/",
                "support/errors",
                "analysis/explain/",
                "interop/importers/code",
                "analysis/stop_gradient/",
                "apps/web/command",
            )
        ):
            options |= {(module, name) for name in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)}
            commands |= {(module, name) for name in re.findall(r"\bsymgrad ([a-z-]+) [A-Z'<-]", text)}
    assert {name for _, name in options} > {"--wrt", "--latex", "--domain"}
    assert sorted((module, name) for module, name in options if name not in known) == []
    assert sorted((module, name) for module, name in commands if name not in main.commands) == []
