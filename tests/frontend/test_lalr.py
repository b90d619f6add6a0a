"""The parser's tables are those of the grammar, and run as lark itself would run them."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lark
import pytest

import symgrad
from symgrad.frontend.tokens import lalr
from symgrad.frontend.tokens.lexer import Lexer
from symgrad.support.source import Source

ROOT = Path(symgrad.__file__).parent.parent
GRAMMAR = (ROOT / "symgrad" / "frontend" / "program.lark").read_text(encoding="utf-8")

TEXTS = (
    "",
    "x",
    "x, y, z : real(-1, +2/3, b,)[n, 5] symmetric; u ~ Uniform(0.9, 1.1)[3]\n",
    "y = -x**-2**z + ~a & b | c ^ d if not x < y <= 2 or z > 1 and w else (1 - 2)/3*4 @ q.T\ny",
    "f(); f(x); f(x,); f(x, y, k=(), m=[1, (2,), None], n='ij->j')",
    "a[1]; a[:]; a[::2]; a[1:2:3, ..., :n, x,]",
    "x +",
    "x = = 2",
    "x : 3",
    "x y",
    "1 if x",
)


class Recorder:
    """Takes note of every action, and makes a value that shows how it came about."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __getattr__(self, rule: str) -> Any:
        if rule.startswith("_") or rule.isupper():
            raise AttributeError(rule)

        def act(*values: Any) -> Any:
            self.calls.append((rule, values))
            return rule, values

        return act


def with_lark(text: str) -> tuple[list[Any], Any]:
    lexer = Lexer(Source(text, "<test>"), lalr.tables().terminals)

    class Tokens(lark.lexer.Lexer):
        def __init__(self, _: Any) -> None: ...

        def lex(self, *_: Any) -> Iterator[Any]:
            for token in lexer.tokens():
                yield lark.Token(token.type, str(token), token.start_pos)

    recorder = Recorder()

    class Actions:
        def __getattr__(self, rule: str) -> Any:
            act = getattr(recorder, rule)
            return lambda found: act(*found)

    parser = lark.Lark(GRAMMAR, parser="lalr", lexer=Tokens, transformer=Actions())
    try:
        parser.parse(text)
    except lark.UnexpectedToken as error:
        return recorder.calls, (str(error.token), error.expected)
    return recorder.calls, None


def with_tables(text: str) -> tuple[list[Any], Any]:
    recorder = Recorder()
    try:
        lalr.parse(Lexer(Source(text, "<test>"), lalr.tables().terminals).tokens(), recorder)
    except lalr.MisplacedError as error:
        return recorder.calls, (str(error.token), error.expected)
    return recorder.calls, None


@pytest.mark.parametrize("text", TEXTS)
def test_actions_and_errors_are_those_of_lark(text: str) -> None:
    expected, ours = with_lark(text), with_tables(text)
    assert ours == expected


def test_tables_are_those_of_the_grammar() -> None:
    spec = importlib.util.spec_from_file_location("grammar", ROOT / "tools" / "grammar.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.text(GRAMMAR) == tool.TARGET.read_text(encoding="utf-8"), "run: python tools/grammar.py"
