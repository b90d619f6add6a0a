"""The parser: an automaton that runs the tables of `program.lark`, which `tools/grammar.py` computes.

The format of `tables.json`, which holds the tables of lark's LALR(1) engine:

- ``terminals``: maps the spelling of operators and keywords to their names in the grammar.
- ``rules``: a row of five for each rule. The first is the nonterminal. The second is the action, the method to call; if
  it is null, the values become a list, or a single value is passed on. The third is the number of symbols that are
  replaced. The fourth has the arguments of the method, as positions among these symbols (``~k``: insert the items of
  the list at k; null: None for an optional part that is absent). The last tells whether a single argument is returned
  without calling the method.
- ``actions``: for each state, the effect of each terminal: the number of the next state, or ``~rule``.
- ``gotos``: for each state, the next state for each nonterminal.
- ``end``: the state in which a text may end. The parser begins in state 0.
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

_END = "$END"


class MisplacedError(Exception):
    """A token at a place where the grammar allows only others.

    Args:
        token: the token.
        expected: the terminals that the grammar allows there.
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
    """Read the tables; this is done once in a process."""
    # This works in a zip archive, too. importlib.resources would, too, but importing it takes longer than parsing a
    # text.
    content = pkgutil.get_data("symgrad.frontend", "tables.json")
    assert content is not None  # the loader of this package can read data
    return Tables(**json.loads(content))


def parse(tokens: Iterable[Token], actions: object) -> None:
    """Parse tokens.

    Args:
        tokens: the tokens, with a final ``_NEWLINE``.
        actions: an object with the methods for the rules; they are called in the order of reductions, with the values
            of the symbols.

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
                else:  # repetitions are left-recursive, so this list is usually extended in place
                    found = [*found, *values[start + ~place]] if found else values[start + ~place]
            del states[start + 1 :], values[start:]
            states.append(gotos[states[-1]][goal])
            if single and len(found) == 1:
                values.append(found[0])
            else:
                values.append(found if action is None else action(*found))
            if name == _END and states[-1] == known.end:
                return
