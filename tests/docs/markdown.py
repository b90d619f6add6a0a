"""Runs a page of documentation: what a reader would type is executed in order, what is shown is compared.

A page is one session in an empty directory of its own:

    ```python                   blocks share one namespace; a block with `>>>` is a doctest, another is run
    ```sh                       `$ symgrad ...` lines are run; the output shown below one, if any, is compared
    ```sh exit=1                the same, for commands that end with status 1
    ```sh                       `$ cc ...` and `$ ./main` lines too, where there is a C compiler
    ```text file=model.sg       the block is written to model.sg
    ```python file=loss.py      likewise (and not run)

Other blocks and `$` lines of other programs are for the eye. In shown output `...` stands for anything.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Block", "SnippetError", "blocks", "run_page"]

ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS
TIMEOUT = 120  # seconds for one command

_FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})(?P<words>.*)")
_HAS_CC = shutil.which("cc") is not None and sys.platform != "win32"
_SHELL = {"|", "||", "&", "&&", ";", "<", ">", ">>"}


class SnippetError(AssertionError):
    """A snippet does not run, or does not print what the page shows."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: the words after the fence, the text, the 1-based line where the text starts."""

    language: str
    options: dict[str, str]
    text: str
    line: int


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a Markdown text."""
    found: list[Block] = []
    lines = iter(enumerate(page.splitlines(), 1))
    for number, line in lines:
        opening = _FENCE.fullmatch(line)
        if opening is None:
            continue
        indent, fence = opening["indent"], opening["fence"]
        body: list[str] = []
        for _, inner in lines:
            stripped = inner.strip()
            if stripped.startswith(fence) and not stripped.strip(fence[0]):
                break
            body.append(inner.removeprefix(indent))
        else:
            raise SnippetError(f"line {number}: the block is never closed")
        language, *options = opening["words"].split() or [""]
        if stray := [word for word in options if "=" not in word]:
            raise SnippetError(
                f"line {number}: {stray[0]} is not an option; options are file=NAME and exit=STATUS"
            )
        pairs = dict(word.split("=", 1) for word in options)
        found.append(Block(language, pairs, "".join(f"{text}\n" for text in body), number + 1))
    return found


def run_page(path: Path, directory: Path) -> int:
    """Run every snippet of a page in a directory and return how many there were."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    ran = 0
    with contextlib.chdir(directory):
        for block in blocks(path.read_text(encoding="utf-8")):
            if "file" in block.options:
                Path(block.options["file"]).write_text(block.text, encoding="utf-8")
            elif block.language == "python":
                _run_python(path, block, namespace)
                ran += 1
            elif block.language == "sh":
                ran += _run_shell(path, block)
    return ran


def _run_python(path: Path, block: Block, namespace: dict[str, object]) -> None:
    if re.search(r"^>>> ", block.text, re.MULTILINE):
        _run_doctest(path, block, namespace)
        return
    # Blank lines before the block make tracebacks point at the line of the page.
    code = compile("\n" * (block.line - 1) + block.text, str(path), "exec", dont_inherit=True)
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, namespace)


def _run_doctest(path: Path, block: Block, namespace: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, namespace, path.name, str(path), block.line - 1)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=report.append, clear_globs=False)
    namespace |= test.globs  # the test ran in a copy
    if runner.failures:
        raise SnippetError("".join(report))


def _run_shell(path: Path, block: Block) -> int:
    ran = 0
    for command, shown, line in _commands(block):
        words = shlex.split(command)
        called = words[0] if words else ""
        in_c = called == "cc" or called.startswith("./")
        if called != "symgrad" and not (in_c and _HAS_CC):
            continue
        if shell := _SHELL & set(words):
            raise SnippetError(
                f"{path}, line {line}: {shell.pop()} needs a shell, which differs between systems"
            )
        status, output = _run(words) if in_c else run_cli(words[1:])
        ran += 1
        expected_status = int(block.options.get("exit", "0"))
        if status != expected_status:
            raise SnippetError(f"{path}, line {line}: exit status {status}, not {expected_status}:\n{output}")
        example = doctest.Example(command, shown)
        checker = doctest.OutputChecker()
        if shown and not checker.check_output(_trim(shown), _trim(output), doctest.ELLIPSIS):
            difference = checker.output_difference(
                example, _trim(output), doctest.ELLIPSIS | doctest.REPORT_UDIFF
            )
            raise SnippetError(f"{path}, line {line}: $ {command}\n{difference}")
    return ran


def _commands(block: Block) -> list[tuple[str, str, int]]:
    """The (command, output shown below it, line) of a block."""
    found: list[tuple[str, list[str], int]] = []
    lines = iter(enumerate(block.text.splitlines(), block.line))
    for number, line in lines:
        if line.startswith("$ "):
            command = line.removeprefix("$ ")
            while command.endswith("\\"):
                command = command[:-1] + next(lines)[1].strip()
            found.append((command, [], number))
        elif found:
            found[-1][1].append(line)
    return [
        (command, "".join(f"{text}\n" for text in shown).rstrip("\n"), line) for command, shown, line in found
    ]


def _trim(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.rstrip("\n").splitlines())


def run_cli(arguments: list[str]) -> tuple[int, str]:
    """Run the command line in a process of its own and return its exit status and all that it printed."""
    program = "import sys; sys.argv[0] = 'symgrad'; from symgrad.apps.cli import main; main()"
    environment = os.environ | {
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    return _run([sys.executable, "-c", program, *arguments], environment)


def _run(words: list[str], environment: dict[str, str] | None = None) -> tuple[int, str]:
    done = subprocess.run(
        words,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=TIMEOUT,
        check=False,
    )
    return done.returncode, done.stdout
