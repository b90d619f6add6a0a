"""Modules are records until they are printed, fixed parts are templates, and nothing reads or edits printed code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import symgrad.compiler.llvm
from symgrad.compiler.llvm.elementwise import loop
from symgrad.compiler.llvm.engine.jit import Engine
from symgrad.compiler.llvm.text.instructions import Instruction, LineGroup, Splat, flatten_lines, format_lines
from symgrad.compiler.llvm.text.module import Attributes, Function, FunctionDeclaration, Global, Module
from symgrad.compiler.llvm.text.templates import fill_template
from symgrad.errors import InternalError

ROOM = Path(symgrad.compiler.llvm.__file__).parent
FILES = {"engine/folder_posix.py", "engine/folder_windows.py", "engine/disk_cache.py"}
"""What renames files, and knows them by their names."""


def surgery(path: Path) -> Iterator[str]:
    """Yield what could read or edit text: regular expressions, and replacement within strings."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import) and any(n.name in {"re", "regex"} for n in node.names):
            yield f"line {node.lineno}: import re"
        if isinstance(node, ast.ImportFrom) and node.module in {"re", "regex"}:
            yield f"line {node.lineno}: from re"
        if isinstance(node, ast.Attribute) and node.attr in {"replace", "translate"}:
            yield f"line {node.lineno}: .{node.attr}"


def test_nothing_reads_or_edits_printed_code() -> None:
    modules = {str(p.relative_to(ROOM).as_posix()): p for p in ROOM.rglob("*.py")}
    assert modules.keys() > FILES
    found = {name: list(surgery(path)) for name, path in modules.items() if name not in FILES}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "text", ["import re", "from re import sub", "'a'.replace('a', 'b')", "x = str.replace"]
)
def test_surgery_is_seen(text: str, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(f"def f():\n    {text}\n")
    assert len(list(surgery(path))) == 1


def test_what_a_template_lacks_is_an_error() -> None:
    assert (
        fill_template("%${x.y} = add i64 ${a}, { i64 } $${a}", {"x.y": "z", "a": 1})
        == "%z = add i64 1, { i64 } ${a}"
    )
    with pytest.raises(InternalError, match="differ in b"):
        fill_template("${a} ${b}", {"a": 1})
    with pytest.raises(InternalError, match="differ in b"):
        fill_template("${a}", {"a": 1, "b": 2})
    with pytest.raises(ValueError, match="Invalid placeholder"):
        fill_template("$a ${a}", {"a": 1})


def test_linkage_attributes_and_names_are_fields() -> None:
    made = Function(
        "one", "i64", ["i64 %x"], [Instruction("%y", "add i64 %s, %s", ("%x", "1")), "  ret i64 %y"]
    )
    assert str(made) == "define internal i64 @one(i64 %x) #0 {\n  %y = add i64 %x, 1\n  ret i64 %y\n}"
    for name, linkage, attributes, head in (
        ("two", "external", Attributes.INLINED, "define i64 @two(i64 %x) #1 {"),
        ("3", "internal", Attributes.AS_WRITTEN, "define internal i64 @3(i64 %x) #2 {"),
    ):
        other = replace(made, name=name, linkage=linkage, attributes=attributes)
        assert str(other).split("\n") == [head, *str(made).split("\n")[1:]]
    assert str(made.declaration) == "declare i64 @one(i64 %x) #0"
    assert str(Global("g", "i64", "7", "external")) == "@g = constant i64 7"


def test_a_module_knows_what_it_needs_and_what_others_may_use() -> None:
    code = ["  %y = call double @cos(double %x)", "  ret double %y"]
    inner = Function("inner", "double", ["double %x"], code)
    outer = replace(inner, name="outer", linkage="external")
    smaller = FunctionDeclaration("llvm.umin.i64", "i64", ("i64", "i64"))
    module = Module(
        [outer, inner, smaller, FunctionDeclaration("cos", "double", ("double",), Attributes.USUAL)]
    )
    assert module.needs == ("cos",)
    engine = Engine(str(module))
    assert engine.address("outer")
    with pytest.raises(InternalError, match="does not define 'inner'"):
        engine.address("inner")


def test_instructions_are_printed_last() -> None:
    call = LineGroup([Instruction("%a", "call i64 @f()")])
    lines = ["entry:", call, Instruction("", "store double %s, ptr %s", (Splat("double", "1.0"), "%p"))]
    call.append(Instruction("%b", "extractvalue { i64 } %s, 0", ("%a",)))
    assert format_lines(lines) == [
        "entry:",
        "  %a = call i64 @f()",
        "  %b = extractvalue { i64 } %a, 0",
        "  store double splat (double 1.0), ptr %p",
    ]
    assert [str(line) for line in flatten_lines(lines)] == format_lines(lines)


def test_an_inner_loop_is_named_by_the_sizes_it_is_for() -> None:
    assert f"define void @{loop.LOOP}.4.8(" in loop.driver((8, 4, 8))
    assert f"define internal void @{loop.LOOP}(" in loop.driver((8, 4, 8), internal=True)
    assert loop.driver((8, 4)) is loop.driver({4, 8})
