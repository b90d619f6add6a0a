"""Write symgrad/frontend/tables.json from program.lark: `python tools/grammar.py`.

lark reads the grammar and computes the LALR(1) tables; `symgrad/frontend/tokens/lalr.py` runs them, and describes their
content.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lark
from lark.lexer import PatternStr
from lark.parsers.lalr_analysis import Shift

FRONTEND = Path(__file__).parent.parent / "symgrad" / "frontend"
GRAMMAR = FRONTEND / "program.lark"
TARGET = FRONTEND / "tables.json"

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class NoLexer(lark.lexer.Lexer):
    def __init__(self, lexer_conf: Any) -> None:
        del lexer_conf

    def lex(self, *_: Any) -> Any:
        raise NotImplementedError


def kept(rule: Any) -> list[int | None]:
    """Return what a rule's action is passed, as lark's tree builder would: places, of helpers inverted, and None."""
    absent = list(rule.options.empty_indices or [False] * len(rule.expansion))
    places = iter(range(len(rule.expansion)))
    found: list[int | None] = []
    for missing in absent:
        if missing:
            found.append(None)
            continue
        place = next(places)
        symbol = rule.expansion[place]
        if symbol.is_term and symbol.filter_out:
            continue
        found.append(~place if symbol.name.startswith("_") and not symbol.is_term else place)
    return found


def rule_row(rule: Any) -> list[Any]:
    passed = kept(rule)
    single = bool(rule.options.expand1 and not rule.alias)
    alone = single and len(passed) == 1 and passed[0] is not None and passed[0] >= 0
    action = None if alone or rule.origin.name.startswith("_") else str(rule.alias or rule.origin.name)
    return [str(rule.origin.name), action, len(rule.expansion), passed, single]


def tables(grammar: str) -> dict[str, Any]:
    parser: Any = lark.Lark(grammar, parser="lalr", lexer=NoLexer)
    states = parser.parser.parser._parse_table.states
    (start,) = parser.parser.parser._parse_table.start_states.values()
    (end,) = parser.parser.parser._parse_table.end_states.values()
    order = [start]  # in the order of their occurrence, because lark's own numbers differ from run to run
    for state in order:
        found = [goal for _, (action, goal) in sorted(states[state].items()) if action is Shift]
        order += [goal for goal in dict.fromkeys(found) if goal not in order]
    number = {state: k for k, state in enumerate(order)}
    rules = {rule: k for k, rule in enumerate(parser.rules)}

    def row(state: int, *, terminals: bool) -> dict[str, int]:
        found: dict[str, int] = {}
        for name, (action, goal) in sorted(states[state].items()):
            if name.isupper() == terminals:
                found[str(name)] = number[goal] if action is Shift else ~rules[goal]
        return found

    spelled = dict.fromkeys(COMPARISONS, "COMPARE")
    spelled |= {t.pattern.value: str(t.name) for t in parser.terminals if isinstance(t.pattern, PatternStr)}
    return {
        "end": number[end],
        "terminals": dict(sorted(spelled.items())),
        "rules": [rule_row(rule) for rule in parser.rules],
        "actions": [row(state, terminals=True) for state in order],
        "gotos": [row(state, terminals=False) for state in order],
    }


def text(grammar: str) -> str:
    """Return the text of the file, with one line for each rule and each state."""
    lines: list[str] = []
    for key, value in tables(grammar).items():
        inner = json.dumps(value)
        if isinstance(value, list):
            inner = "[\n" + ",\n".join(json.dumps(item) for item in value) + "\n]"
        lines.append(f"{json.dumps(key)}: {inner}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    TARGET.write_text(text(GRAMMAR.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
