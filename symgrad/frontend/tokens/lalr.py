"""The parser: an automaton that runs the tables of `program.lark`, which `tools/grammar.py` computes.

In `tables.json`, written as lark's LALR(1) engine has them:

- ``terminals``: from the spelling of operators and keywords to their names in the grammar.
- ``rules``: the nonterminal, the action (null for a repetition, which makes a list, and for what only passes a value
  on), how many symbols are replaced, what the action is passed (places among them; ``~place`` for all that a repetition
  found; null for what is left out), and whether a single value stands for itself.
- ``actions``: for each state what a terminal does, the number of the next state or ``~rule``.
- ``gotos``: for each state where a nonterminal leads.
- ``end``: the state in which a text may end. One begins in state 0.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

from symgrad.frontend.tokens.terms import Token

__all__ = ["MisplacedError", "Tables", "parse", "tables"]

_END = "$END"


class MisplacedError(Exception):
    """A token in a place where the grammar takes others.

    Args:
        token: the token.
        expected: the terminals that the grammar takes there.
    """

    def __init__(self, token: Token, expected: frozenset[str]) -> None:
        super().__init__(token)
        self.token = token
        self.expected = expected


@dataclass(frozen=True, slots=True)
class Tables:
    """The content of `tables.json`."""

    terminals: dict[str, str]
    rules: list[tuple[str, str | None, int, list[int | None], bool]]
    actions: list[dict[str, int]]
    gotos: list[dict[str, int]]
    end: int


@cache
def tables() -> Tables:
    """Read the tables, once in a process."""
    # From a zip archive as well; importlib.resources does the same, and takes longer to import than a text to read.
    content = pkgutil.get_data("symgrad.frontend", "tables.json")
    assert content is not None  # no other loader than one with data brought this module
    return Tables(**json.loads(content))


def parse(tokens: Iterable[Token], actions: object) -> None:
    """Parse tokens.

    Args:
        tokens: the tokens, with a final ``_NEWLINE``.
        actions: the methods for the rules; they are called in the order of reductions, with the values of the symbols.

    Raises:
        MisplacedError: at the first token that the grammar does not accept.
    """
    known = tables()
    table, gotos = known.actions, known.gotos
    rules = [(*rule, getattr(actions, rule[1]) if rule[1] else None) for rule in known.rules]
    states, values = [0], list[Any]()
    for token in chain(tokens, [Token(_END, "", 0, 0)]):
        name = token.type
        while True:
            step = table[states[-1]].get(name)
            if step is None:
                raise MisplacedError(token, frozenset(table[states[-1]]))
            if step >= 0:
                states.append(step)
                values.append(token)
                break
            goal, _, size, places, single, action = rules[~step]
            start = len(values) - size
            found: list[Any] = []
            for place in places:
                if place is None:
                    found.append(None)
                elif place >= 0:
                    found.append(values[start + place])
                else:  # the list grows in place where it can: repetitions recur on the left
                    found = [*found, *values[start + ~place]] if found else values[start + ~place]
            del states[start + 1 :], values[start:]
            states.append(gotos[states[-1]][goal])
            if single and len(found) == 1:
                values.append(found[0])
            else:
                values.append(found if action is None else action(*found))
            if name == _END and states[-1] == known.end:
                return
