"""What messages about commands tell one to do, done as it is said."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest
from click.testing import CliRunner

from symgrad.apps.cli import main

# A command, what it is told to try, and the command that does it.
COMMANDS = [
    ("derive a*b --wrt 'a b'", "write --wrt a,b", "derive a*b --wrt a,b"),
    ("derive a*b --wrt ,", "name an input, or leave it out", "derive a*b"),
    ("derive a*b --of aa", "did you mean 'a'?", "derive a*b --of a"),
    ("derive sigma*b --wrt sgima", "did you mean 'sigma'?", "derive sigma*b --wrt sigma"),
    ("derive a*b --wrt q", "one of its inputs, such as 'a'", "derive a*b --wrt a"),
    ("derive a*b --standalone", "add --format latex", "derive a*b --standalone --format latex"),
    (
        "derive x --declare 'x : real'",
        "add --latex, or write the declarations first",
        "derive x --declare 'x : real' --latex",
    ),
    ("derive x/y --read slash=product", "add --latex", "derive x/y --read slash=product --latex"),
    ("derive --latex 'w^T x'", "--read transpose=never", "derive --latex 'w^T x' --read transpose=never"),
    (
        "derive --latex 'w^T x'",
        "--declare 'x : real[n]'",
        "derive --latex 'w^T x' --declare 'w, x : real[n]'",
    ),
    (
        "derive --latex x --read slash=both",
        "write --read slash=product",
        "derive --latex x --read slash=product",
    ),
    ("derive --latex x --read slesh=left", "did you mean 'slash'?", "derive --latex x --read slash=left"),
    (
        "derive --latex '\\log^{-1} x'",
        "--read inverse=reciprocal",
        "derive --latex '\\log^{-1} x' --read inverse=reciprocal",
    ),
    (
        "derive --latex 'f(x)'",
        "--declare 'f : real'",
        "derive --latex 'f(x)' --declare 'x, f : real' --read calls=product",
    ),
    ("derive 'n : int; y = n*2'", "name one with --wrt", "derive 'n : int; x : real; y = n*2*x' --wrt x"),
    ("derive x --of x --of x", "keep one --of", "derive x --of x"),
    ("explain x --so-far lines", "add --next-step", "explain x**2 --next-step"),
    ("verify a*b --claim b", "name one with --wrt", "verify a*b --claim b --wrt a"),
    ("equal 'x : complex; y = x' x", "--domain complex", "equal x x --domain complex"),
    ("equivalent 1 2", "symgrad equal compares values", "equal 1 2"),
    ("equivalent 'x > 0' 'x > 1'", "symgrad equal compares them", "equal 'x > 0' 'x > 1'"),
    ("equivalent x x --domain complex", "symgrad equal P Q --domain complex", "equal x x --domain complex"),
    (
        "lint 'x : real; u ~ Normal(0, 1); y = x*u' --noise u --wrt u",
        "leave it out of --noise",
        "lint 'x : real; u ~ Normal(0, 1); y = x*u' --noise u --wrt x",
    ),
    (
        "derive 'p : real(0, 1); z ~ Bernoulli(p); y = z*p' --wrt p",
        "symgrad audit SOURCE --wrt p",
        "audit 'p : real(0, 1); z ~ Bernoulli(p); y = z*p' --wrt p",
    ),
    ("compile x -o k.c --cpu haswell", "leave cpu and triple out", "compile x -o k.c"),
    ("compile x -o k.o --cpu nonsense", "--cpu baseline", "compile x -o k.o --cpu baseline"),
    ("run x*y x=2", "pass y=...", "run x*y x=2 y=3"),
    (
        "run 'x : real[2, 2]; y = sum(x)' 'x=[[1, 2], [3]]'",
        "write [[1, 2], [3, 4]]",
        "run 'x : real[2, 2]; y = sum(x)' 'x=[[1, 2], [3, 4]]'",
    ),
    ("run 'n : int; x : real; y = n*x' n=0.5 x=1", "round them", "run 'n : int; x : real; y = n*x' n=1 x=1"),
    ("run x*y x=2 y=3 -o r.npy", "add --no-gradient", "run x*y x=2 y=3 -o r.npy --no-gradient"),
]

_PYTHON = re.compile(r"\bsg\.|\bwrt=|\bnoise=|\bfrozen=|domain=|\w+=\"|\['")


@pytest.mark.parametrize(("line", "cure", "then"), COMMANDS)
def test_the_cure_of_a_command_is_a_command_that_works(
    line: str, cure: str, then: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    failed = CliRunner().invoke(main, shlex.split(line))
    assert failed.exit_code in (1, 2), failed.output
    said = failed.stderr.rpartition("try: ")[2]
    assert cure in said, failed.stderr
    assert not _PYTHON.search(said), f"a cure of the command line in terms of Python: {said}"
    done = CliRunner().invoke(main, shlex.split(then))
    findings = then.startswith("lint") and not done.stderr
    assert done.exit_code in ((0, 1) if findings else (0, 5, 6, 7)), done.stderr
    assert not _PYTHON.search(done.stderr)
