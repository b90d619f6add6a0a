"""Options that are repeated: lists add up, and of anything else one is kept only if there is one."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator

import click
import pytest
from click.testing import Result

from symgrad.apps.cli import main

Call = Callable[..., Result]


def options(*, multiple: bool) -> Iterator[tuple[str, str, bool]]:
    for name, command in main.commands.items():
        for option in command.params:
            if isinstance(option, click.Option) and option.multiple == multiple:
                yield name, max(option.opts, key=len), option.is_flag


NOISY = "a, b : real; u ~ Normal(0, 1); y = a*b*u"
LISTS = {
    "--wrt",
    "--noise",
    "--frozen",
    "--ignore",
    "--specs",
    "--declare",
    "--read",
    "--domain",
    "--name",
    "--proxy",
}


def test_every_option_that_says_that_it_takes_a_list_is_one() -> None:
    said = {
        (name, max(option.opts, key=len))
        for name, command in main.commands.items()
        for option in command.params
        if isinstance(option, click.Option) and "[," in str(option.metavar)
    }
    lists = {(name, option) for name, option, _ in options(multiple=True)}
    assert said <= lists
    assert {option for _, option in lists} == LISTS


@pytest.mark.parametrize(("command", "option", "flag"), list(options(multiple=False)))
def test_an_option_of_which_one_counts_is_refused_when_it_is_repeated(
    call: Call, command: str, option: str, flag: bool
) -> None:
    once = [option] if flag else [option, "1"]
    done = call(command, "x", *once, *once)
    assert done.exit_code == 2
    assert f"{option} is repeated" in done.stderr
    assert f"try: keep one {option}" in done.stderr


@pytest.mark.parametrize(
    ("repeated", "together"),
    [
        ("derive a*b --wrt a --wrt b", "derive a*b --wrt a,b"),
        ("derive a*b*c --wrt a,b --wrt c", "derive a*b*c --wrt a,b,c"),
        ("explain a*b --wrt a --wrt b", "explain a*b --wrt a,b"),
        ("run a*b --wrt b --wrt a a=2 b=3", "run a*b --wrt b,a a=2 b=3"),
        ("effective a*b --wrt a --wrt b", "effective a*b --wrt a,b"),
        (f"audit '{NOISY}' --wrt a --wrt b", f"audit '{NOISY}' --wrt a,b"),
        ("equivalent a*b b*a --wrt a --wrt b", "equivalent a*b b*a --wrt a,b"),
        ("lint a*b --frozen a --frozen b", "lint a*b --frozen a,b"),
        ("lint a*b --ignore SG101 --ignore SG102", "lint a*b --ignore SG101,SG102"),
        (
            "derive --latex 'X w' --declare 'X : real[n, d]' --declare 'w : real[d]' --wrt w",
            "derive --latex 'X w' --declare 'X : real[n, d]; w : real[d]' --wrt w",
        ),
    ],
)  # fmt: skip
def test_lists_add_up(call: Call, repeated: str, together: str) -> None:
    first, second = (call(*shlex.split(line)) for line in (repeated, together))
    assert first.exit_code in (0, 1)
    assert first.stdout
    assert (first.exit_code, first.stdout) == (second.exit_code, second.stdout)


@pytest.mark.parametrize(
    "line",
    [
        "equal x x --domain x=real --domain x=positive",
        "derive --latex x/y --read slash=product --read slash=fraction",
        "run x x=1 x=2",
    ],
)
def test_two_values_for_one_name_are_refused(call: Call, line: str) -> None:
    assert call(*shlex.split(line)).exit_code == 2


def test_a_command_line_that_click_refuses_is_refused_in_its_words(call: Call) -> None:
    done = call("derive", "x", "--nonsense")
    assert done.exit_code == 2
    assert "Usage: main derive" in done.stderr
    assert call("derive", "--help", "--help").exit_code == 0


@pytest.mark.parametrize(
    "line", ["derive a*b --wrt 'a b'", "lint a*b --frozen 'a b'", "equivalent a*b b*a --wrt 'a  b'"]
)
def test_names_with_spaces_between_them_are_answered_with_the_option(call: Call, line: str) -> None:
    words = shlex.split(line)
    done = call(*words)
    cure = done.stderr.rpartition("try: write ")[2].split()
    assert cure[1:] == ["a,b"]
    assert call(*words[:-2], *cure).exit_code in (0, 1)
