"""The reference: pages of the public names by topic, and `docs/reference.md`, a line for each name.

A line is the first sentence of a docstring, read from the source in which the name is defined, so that no framework is
imported.
"""

from __future__ import annotations

import ast
import inspect
import tomllib
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

from symgrad.support.public_names import PUBLIC

__all__ = ["Topic", "described", "names_of", "overview", "topic_page", "topics", "written"]

Topic = dict[str, Any]
"""A table of `topics.toml`."""

_INHERITED = "inherited-members: Mapping, Sequence, tuple"
"""Readers know the members of these base classes."""

_HEAD = """\
# Reference

Every public name, with what it does; `import symgrad as sg` has them all. `help(sg.grad)` shows more, and so does the
manual that `make docs` builds, on a page for each topic: arguments, what is returned, errors, and an example.

This page is made of the docstrings by topic: `tools/manual/topics.toml`.
"""


def topics() -> list[Topic]:
    """Return the topics in their order."""
    text = Path(__file__).with_name("topics.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["topic"]


def names_of(topic: Topic) -> list[tuple[str, str]]:
    """Return the names of a topic: as users write them, each with the module that has it."""
    found = [(name, PUBLIC[name]) for name in topic.get("names", [])]
    for module in topic.get("modules", []):
        place = f"symgrad.{module}"
        found += [(f"{module}.{name}", place) for name in import_module(place).__all__]
    return found


def overview() -> str:
    """Return the text of `docs/reference.md`."""
    lines = [_HEAD]
    for topic in topics():
        lines += [f"## {topic['title']}\n", f"{topic['about']}\n"]
        if topic["page"] == "errors":
            lines.append(
                "Each has a section on [the page about errors](errors.md), with a program and a cure.\n"
            )
            continue
        lines += ["| name | meaning |", "|---|---|"]
        lines += [f"| `sg.{name}` | {_cell(_summary(name, place))} |" for name, place in names_of(topic)]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def topic_page(topic: Topic) -> str:
    """Return the page of a topic, in MyST."""
    lines = [f"# {topic['title']}\n", f"{topic['about']}\n"]
    for name, place in names_of(topic):
        value = _value(name, place)
        if inspect.isclass(value) and issubclass(value, BaseException):
            lines.append(_directive("autoexception", f"symgrad.{name}"))
            anchor = value.__name__.lower()
            lines.append(
                f"A program that raises it, and the cure: [{value.__name__}](../errors.md#{anchor}).\n"
            )
        elif inspect.isclass(value):
            lines.append(_directive("autoclass", f"symgrad.{name}", "members:", _INHERITED))
        elif value is None or inspect.isroutine(value):
            lines.append(_directive("autofunction", f"symgrad.{name}"))
        else:
            lines.append(_directive("autodata", f"symgrad.{name}", "no-value:"))
    return "\n".join(lines)


def _directive(kind: str, name: str, *options: str) -> str:
    return "\n".join(
        ["```{eval-rst}", f".. {kind}:: {name}", *(f"   :{option}" for option in options), "```\n"]
    )


def _value(name: str, place: str) -> Any:
    """Return the object of a name; None if this would import a framework."""
    if place.startswith(("symgrad.interop.exporters.", "symgrad.interop.importers.")):
        return None
    return getattr(import_module(place), name.rpartition(".")[2])


def _summary(name: str, place: str) -> str:
    """Return the first paragraph of the docstring of a name, as one line."""
    value = _value(name, place)
    said = value.__doc__ if inspect.isclass(value) or inspect.isroutine(value) else written(name, place)
    return " ".join(described(inspect.cleandoc(said or ""))[1].partition("\n\n")[0].split()).removesuffix(".")


def described(doc: str) -> tuple[str, str]:
    """Return the arguments, and the rest, of a docstring that begins with a call: ``sin(x): the sine ...``."""
    call, colon, rest = doc.partition("): ")
    name, bracket, arguments = call.partition("(")
    if colon and bracket and name.isidentifier():
        return f"({arguments})", rest
    return "", doc


def written(name: str, place: str) -> str | None:
    """Return the docstring of a function, or the text below a constant, from the source of a module."""
    spec = find_spec(place)
    assert spec is not None
    assert spec.origin is not None
    found: str | None = None
    body = ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body
    for statement, after in pairwise([*body, ast.Pass()]):
        match statement, after:
            case ast.FunctionDef(), _ if statement.name == name:
                found = (
                    ast.get_docstring(statement) or found
                )  # of several overloads, the one that has a docstring
            case ast.Assign(targets=[ast.Name(id=target)]), ast.Expr(value=ast.Constant(value=str(said))):
                found = said if target == name else found
            case _:
                pass
    return found


def _cell(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|")
