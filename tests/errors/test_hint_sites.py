"""Every place in the source that makes a cure is followed in a test, or stands in a list with the reason why not.

A new cure fails here until one of both is done. The list, `hint_sites.txt`, has a line for each: why, the module, and
the source of the cure. Where a cure is chosen before the call that has it (``cure=cure``), the call is no place of its
own.
"""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

import symgrad as sg
from symgrad.apps.cli import main
from symgrad.errors import SymgradError
from tests.errors.following import why_not
from tests.errors.sites import Site, sites, watched
from tests.errors.test_cures import CASES
from tests.errors.test_following import PROGRAMS
from tests.errors.test_following_calls import CALLS, NAMES
from tests.errors.test_following_commands import COMMANDS
from tests.errors.test_following_latex import LATEX

LIST = Path(__file__).with_name("hint_sites.txt")
REASONS = {
    "words": "it says in words what to do, and has no text, command or call that could be copied",
    "elsewhere": "it passes on a cure that is made elsewhere",
    "spelling": "it is the nearest known name, of which test_cures has many",
    "surroundings": "it needs another framework, another machine, a file or a process of its own",
    "open": "it can be followed, and no test does so yet",
}


def listed() -> dict[Site, str]:
    """Return the reason of every place that is not followed."""
    found: dict[Site, str] = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        why, module, source = line.split("\t")
        found[module, source] = why
    return found


@cache
def followed_sites() -> frozenset[Site]:
    """Return the places whose cures the tests follow."""
    found: set[Site] = set()

    def note(run: Callable[[], object], follows: Callable[[SymgradError], bool] = lambda _: True) -> None:
        with watched() as made:
            try:
                run()
            except SymgradError as error:
                if id(error) in made and follows(error):
                    found.add(made[id(error)])

    for text in PROGRAMS:
        note(lambda text=text: sg.parse(text), lambda error: why_not(str(error.cure)) is None)
    for row in CASES:
        note(lambda text=row[0]: sg.parse(text))
    for latex, declared, *_ in LATEX:
        note(lambda latex=latex, declared=declared: sg.parse_latex(latex, declared))
    for call, *_ in CALLS:
        note(lambda call=call: eval(call, dict(NAMES)))
    for line, *_ in COMMANDS:
        with watched() as made, contextlib.suppress(SystemExit):
            CliRunner().invoke(main, shlex.split(line))
        found.update(list(made.values())[-1:])
    return frozenset(found)


def test_every_cure_is_followed_or_has_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    known = listed()
    assert set(known.values()) <= REASONS.keys()
    new = sites() - known.keys() - followed_sites()
    assert not new, f"follow these cures in tests/errors/test_following*.py, or list them: {sorted(new)}"
    gone = known.keys() - sites()
    assert not gone, f"these cures are no longer in the source: {sorted(gone)}"
    again = known.keys() & followed_sites()
    assert not again, f"these cures are followed by now: {sorted(again)}"


def test_cures_that_can_be_followed_and_are_not_become_fewer() -> None:
    assert sum(why == "open" for why in listed().values()) <= OPEN


def test_what_is_called_words_has_nothing_to_copy() -> None:
    code = re.compile(r"sg\.|--\w|\w\(\w|\w=['\"\[\d]")
    wrong = [site for site, why in listed().items() if why == "words" and code.search(site[1])]
    assert wrong == []


OPEN = 146
