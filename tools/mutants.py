"""Find faults that the tests do not notice: `make mutants COUNT=400`.

Faults (`mutations.py`) are put into a copy of the tree one at a time; they are drawn evenly over the lines of the given
packages. The tests that run the line are started until one fails. Coverage measures once which tests run which line;
slow tests come last, and a fault survives if all tests pass within `--seconds` of processor time. The survivors are
listed with their lines: each means that a test is missing, or that the fault changes nothing (or only speed).
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click
from mutations import Mutation, mutations
from rich.console import Console
from rich.progress import track

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "ops",
    "rewrite",
    "autodiff",
    "compiler/lowering",
    "compiler/llvm",
    "compiler/kernels",
    "checker",
    "analysis/explain",
    "analysis/expectations",
    "verification",
)
_LEFT_OUT = ("tests/docs", "tests/benchmarks", "tests/examples", "tests/fuzz", "tests/typing", "tests/test_")
_TESTS = ROOT / "build" / "tests-of-lines.json"
_MOST = 60  # number of test functions of a line that are tried
_FEW = 5  # for a line that fewer tests run, the tests of the layer are tried, too: only the first test runs cached code
_IMPORTED = (
    4  # factor for the time of code that runs at import (records, tables): any test may notice the fault
)

_BOUNDED = """
import os, sys
try:
    import resource
    seconds = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
except ImportError:
    pass
os.execv(sys.argv[2], sys.argv[2:])
"""
_PATIENCE = (
    10  # how many times the processor time may pass on the clock, because other work may run at the same time
)


@click.group()
def main() -> None:
    """Find faults that the tests do not notice."""


@main.command()
@click.option("--workers", default=2, show_default=True)
@click.option(
    "--only", multiple=True, help="Folders or files of tests, such as tests/rewrite/rules; by default all."
)
@click.option("--add", is_flag=True, help="To what was measured before of other tests.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=_TESTS)
def cover(workers: int, only: tuple[str, ...], add: bool, output: Path) -> None:
    """Measure which tests run which line, and how long each test takes."""
    named = [ROOT / name for name in only or ("tests",)]
    found = sorted(p for n in named for p in ([n] if n.is_file() else n.glob("**/test_*.py")))
    files = [p for p in found if not str(p.relative_to(ROOT)).startswith(_LEFT_OUT)]
    with tempfile.TemporaryDirectory() as folder:
        shares = [files[k::workers] for k in range(workers)]
        with ThreadPoolExecutor(workers) as pool:
            times = list(pool.map(lambda k: _covered(Path(folder) / f"{k}", shares[k]), range(workers)))
        lines: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for k in range(workers):
            _collect(Path(folder) / f"{k}", lines)
    seconds: dict[str, float] = defaultdict(float)
    if add:
        _keep_others(output, {str(f.relative_to(ROOT)) for f in files}, lines, seconds)
    for found in times:
        for test, taken in found.items():
            seconds[test] += taken
    kept = {f: {n: sorted(t) for n, t in sorted(by_line.items())} for f, by_line in sorted(lines.items())}
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps({"seconds": seconds, "lines": kept}), encoding="utf-8")
    click.echo(f"{output}: {len(kept)} files, {len(seconds)} test functions")


def _keep_others(
    path: Path, files: set[str], lines: dict[str, dict[int, set[str]]], seconds: dict[str, float]
) -> None:
    """Add the results of an earlier measurement for the tests in other files."""
    known = json.loads(path.read_text(encoding="utf-8"))
    seconds.update({t: s for t, s in known["seconds"].items() if t.split("::")[0] not in files})
    kept = {_context(test) for test in seconds}
    for file, by_line in known["lines"].items():
        for line, tests in by_line.items():
            lines[file][int(line)].update(kept.intersection(tests))


def _covered(data: Path, files: Sequence[Path]) -> dict[str, float]:
    """Run tests under coverage, each file in its own process; return the seconds of each test function."""
    seconds: dict[str, float] = {}
    for k, file in enumerate(files):
        command = [sys.executable, "-m", "coverage", "run", f"--data-file={data}.{k}", "--source=symgrad"]
        config = data.with_suffix(".toml")
        config.write_text('[run]\ndynamic_context = "test_function"\n', encoding="utf-8")
        command += [
            f"--rcfile={config}",
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--durations=0",
            "--durations-min=0",
            str(file),
        ]
        command += [f"--basetemp={data}-tests"]
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False, env=_environment(data)
        )
        for line in done.stdout.splitlines():
            words = line.split()
            if len(words) >= 3 and words[0].endswith("s") and words[1] in ("call", "setup", "teardown"):
                test = words[2].split("[")[0]
                seconds[test] = seconds.get(test, 0.0) + float(words[0][:-1])
    return seconds


def _collect(data: Path, lines: dict[str, dict[int, set[str]]]) -> None:
    for file in data.parent.glob(f"{data.name}.[0-9]*"):
        with sqlite3.connect(file) as base:
            names = dict(base.execute("select id, path from file"))
            contexts = dict(base.execute("select id, context from context"))
            for number, context, bits in base.execute("select file_id, context_id, numbits from line_bits"):
                by_line = lines[str(Path(names[number]).relative_to(ROOT))]
                for byte, value in enumerate(bits):
                    for bit in range(8):
                        if value & (1 << bit):
                            by_line[8 * byte + bit].add(contexts[context])


@main.command()
@click.option("--count", default=400, show_default=True, help="Faults to try.")
@click.option("--seed", default=0, show_default=True)
@click.option("--only", multiple=True, help="Packages, or the beginning of a path below symgrad/.")
@click.option(
    "--seconds", default=120.0, show_default=True, help="Processor time that the tests of a fault may take."
)
@click.option("--workers", default=2, show_default=True)
@click.option(
    "--tests", type=click.Path(exists=True, path_type=Path), default=ROOT / "build" / "tests-of-lines.json"
)
@click.option(
    "--again", type=click.Path(exists=True, path_type=Path), help="Try those that survived an earlier run."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), default=ROOT / "build" / "mutants.json")
def run(
    count: int,
    seed: int,
    only: tuple[str, ...],
    seconds: float,
    workers: int,
    tests: Path,
    again: Path | None,
    output: Path,
) -> None:
    """Try faults and list those that no test notices."""
    known = json.loads(tests.read_text(encoding="utf-8"))
    drawn = _drawn(only or PACKAGES, count, seed)
    if again is not None:
        survivors = [r for r in json.loads(again.read_text(encoding="utf-8")) if r["noticed"] is None]
        drawn = [found for r in survivors if (found := _found(r)) is not None]
    results: list[dict[str, Any]] = []
    console = Console()
    with (
        tempfile.TemporaryDirectory(prefix="symgrad-mutants-") as folder,
        ThreadPoolExecutor(workers) as pool,
    ):
        trees = [_copied(Path(folder) / f"tree{k}") for k in range(workers)]
        free = list(trees)

        def tried(item: tuple[str, Mutation]) -> dict[str, Any]:
            tree = free.pop()
            try:
                return _tried(tree, *item, known, seconds)
            finally:
                free.append(tree)

        for result in track(pool.map(tried, drawn), total=len(drawn), description="faults", console=console):
            results.append(result)
            output.parent.mkdir(parents=True, exist_ok=True)
            output.write_text(json.dumps(results, indent=1), encoding="utf-8")
            if result["noticed"] is None:
                console.print(
                    f"{result['file']}:{result['line']}: {result['what']}: {result['before']}  ->  {result['after']}"
                    f"  ({result['tests']} tests)",
                    markup=False,
                    highlight=False,
                    soft_wrap=True,
                )
    survived = sum(r["noticed"] is None for r in results)
    console.print(f"{len(results)} faults, {survived} survived")


def _drawn(only: Iterable[str], count: int, seed: int) -> list[tuple[str, Mutation]]:
    """Draw faults evenly over the lines that have any."""
    files = [p for o in only for p in sorted((ROOT / "symgrad").rglob("*.py")) if _below(p, o)]
    lines: list[tuple[str, list[Mutation]]] = []
    for path in dict.fromkeys(files):
        by_line: dict[int, list[Mutation]] = defaultdict(list)
        for m in mutations(path.read_text(encoding="utf-8")):
            by_line[m.line].append(m)
        lines += [(str(path.relative_to(ROOT)), found) for found in by_line.values()]
    rng = random.Random(seed)
    chosen = rng.sample(lines, min(count, len(lines)))
    return [(file, rng.choice(found)) for file, found in chosen]


def _found(result: dict[str, Any]) -> tuple[str, Mutation] | None:
    """Return a fault of an earlier run; None if its line has changed since."""
    text = (ROOT / result["file"]).read_text(encoding="utf-8")
    same = (
        m
        for m in mutations(text)
        if (m.what, m.before, m.after) == (result["what"], result["before"], result["after"])
    )
    nearest = min(same, key=lambda m: abs(m.line - result["line"]), default=None)
    return None if nearest is None else (result["file"], nearest)


def _below(path: Path, only: str) -> bool:
    below = path.relative_to(ROOT / "symgrad").as_posix()
    return below == only or below.startswith(only if only.endswith((".py", "/")) else only + "/")


def _copied(tree: Path) -> Path:
    shutil.copytree(
        ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv*", "build", "__pycache__", "*.egg-info")
    )
    return tree


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(folder.parent)}


def _tried(tree: Path, file: str, m: Mutation, known: dict[str, Any], seconds: float) -> dict[str, Any]:
    path = tree / file
    original = path.read_bytes()
    result = {"file": file, "line": m.line, "what": m.what, "before": m.before, "after": m.after}
    chosen, seconds = _tests(file, m.line, known, seconds)
    try:
        path.write_bytes(m.applied(original))
        begun = time.monotonic()
        noticed = _noticed(tree, chosen, seconds)
    finally:
        path.write_bytes(original)
    return result | {"noticed": noticed, "tests": len(chosen), "seconds": round(time.monotonic() - begun, 1)}


def _tests(file: str, line: int, known: dict[str, Any], seconds: float) -> tuple[list[str], float]:
    """Return the test functions that run a line, quick ones first, and the processor time that they may take.

    If no such test is known, the line runs when its module is imported, and all tests of its layer are tried.
    """
    names = {name for name in known["lines"].get(file, {}).get(str(line), ()) if name}
    of = {_context(test): test for test in known["seconds"]}
    found = [of[name] for name in names if name in of]
    layer = "tests/" + file.split("/")[1]
    near = [t for t in known["seconds"] if t.startswith(layer + "/")]
    order = sorted(dict.fromkeys(found), key=lambda t: (not t.startswith(layer), known["seconds"][t]))
    if len(found) < _FEW:
        order += sorted(set(near).difference(found), key=known["seconds"].__getitem__)
    if not found:
        seconds *= _IMPORTED
    chosen: list[str] = []
    total = 0.0
    for test in order:
        if chosen and total + known["seconds"][test] > seconds / 2:
            continue  # the layer may have quicker tests
        total += known["seconds"][test]
        chosen.append(test)
    return chosen[: _MOST if found else None], seconds


def _context(test: str) -> str:
    """Return the name that coverage uses for a test function."""
    file, function = test.split("::", 1)
    return f"{file.removesuffix('.py').replace('/', '.')}.{function.replace('::', '.')}"


def _noticed(tree: Path, tests: Sequence[str], seconds: float) -> str | None:
    """Return how a fault is noticed; None if it is not noticed."""
    command = [sys.executable, "-c", _BOUNDED, str(int(seconds))]
    command += [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        *tests,
    ]
    command += [f"--basetemp={tree.parent / (tree.name + '-tests')}"]
    process = subprocess.Popen(
        command,
        cwd=tree,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=_environment(tree),
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=_PATIENCE * seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return "no end"
    if process.returncode == 0:
        return None
    if -process.returncode in (signal.SIGXCPU, signal.SIGKILL):
        return "no end"
    failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0][:200] if failed else f"exit {process.returncode}"


if __name__ == "__main__":
    main()
