"""A board as tables, on the terminal and as a page of the documentation."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table

from benchmarks.scoreboard.accuracy import Errors
from benchmarks.scoreboard.aims import findings
from benchmarks.scoreboard.board import Board, Result, ratios
from benchmarks.scoreboard.first import BASELINE
from benchmarks.scoreboard.peers import PEERS, SYMGRAD
from benchmarks.scoreboard.pointwise import Pointwise
from benchmarks.scoreboard.programs import Program
from benchmarks.scoreboard.workloads import WORKLOADS

__all__ = ["Sheet", "page", "rich_table", "sheets"]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table: its title, its head, its rows of text, and a line below."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    below: str = ""


def sheets(board: Board, short: bool = False) -> Iterator[Sheet]:
    """Yield the tables of a board that have rows.

    Args:
        board: what was measured.
        short: one table of all ratios and one of all errors in place of a table for each workload.
    """
    found = [_aims(board.of(1), "Aims")]
    for threads in board.threads:
        if threads > 1:
            found += [
                _aims(board.of(threads), f"{title_of_threads(threads)}: aims"),
                _threaded(board, threads),
            ]
    found += (
        [_speed(board.of(1)), _missing(board.of(1)), _errors(board.of(1))]
        if short
        else map(_of_result, board.results)
    )
    found += [_compiling(board), *([] if short else [_phases(board)]), _first(board)]
    yield from (sheet for sheet in found if sheet.rows)


def _speed(board: Board) -> Sheet:
    """The ratios of all peers, a row for each workload."""
    peers = [p for p in PEERS if p != "copy" and any(p in r.fresh for r in board.results)]
    rows = [(title_of(r), *(_ratio(r, p) for p in peers)) for r in board.results if SYMGRAD in r.fresh]
    return Sheet(
        "One thread: symgrad / peer",
        ("", *(PEERS[p].title for p in peers)),
        rows,
        "The columns of peers have medians over the rounds of symgrad's time divided by the peer's time, "
        "with results in new arrays. The column of symgrad has its time for each point, or for each call "
        "of an array program.",
    )


def _missing(board: Board) -> Sheet:
    """The peers without figures for some workloads, a row for each reason."""
    found: dict[str, dict[str, dict[str, None]]] = {}
    for r in board.results:
        for p, reason in r.absent.items():
            if p != "copy":
                found.setdefault(reason, {}).setdefault(PEERS[p].title, {})[r.workload] = None
    rows = [
        (reason, "; ".join(f"{title} ({', '.join(names)})" for title, names in peers.items()))
        for reason, peers in found.items()
    ]
    return Sheet(
        "Peers without figures",
        ("reason", "peers (workloads)"),
        rows,
        "A reason that ends with the name of a workload comes from this workload: a peer that took too "
        "long for it was not tried on larger ones.",
    )


def _errors(board: Board) -> Sheet:
    """The worst errors of all peers, a row for each workload."""
    peers = [p for p in PEERS if any(r.errors.get(p) for r in board.results)]
    return Sheet(
        "Worst errors",
        ("", *(PEERS[p].title for p in peers)),
        [(title_of(r), *(ulps(r.errors.get(p))[0] for p in peers)) for r in board.results if r.errors],
        "Errors are relative to the largest result at the point; for PBE to each value, for arrays to the "
        "largest entry. For the PBE energy symgrad computes a form that keeps its digits, whereas peers "
        "compute the published form, which is shorter.",
    )


def _aims(board: Board, title: str) -> Sheet:
    rows = [
        (f.aim, f"{f.figure:.2g}", f.against, f"{f.limit:.2g}", "" if f.holds else "not reached")
        for f in findings(board)
    ]
    return Sheet(
        title,
        ("aim", "measured", "peer, unit or workload", "at most", ""),
        rows,
        "In a row with a peer, the figure is symgrad's time divided by the peer's time. Figures are "
        "rounded; whether an aim is reached is decided before rounding.",
    )


def _threaded(board: Board, threads: int) -> Sheet:
    """The ratios of all peers, at the largest number of points of each workload."""
    largest: dict[str, Result] = {}
    for r in board.of(threads).results:
        if SYMGRAD in r.fresh and (r.workload not in largest or r.points > largest[r.workload].points):
            largest[r.workload] = r
    head = [n if r.points == 1 else f"{n}, {r.points:,} points" for n, r in largest.items()]
    rows: list[tuple[str, ...]] = []
    for peer in PEERS:
        cells = [_ratio(r, peer) for r in largest.values()]
        if any(cells):
            rows.append((PEERS[peer].title, PEERS[peer].threads or "one thread", *cells))
    return Sheet(
        f"{title_of_threads(threads)}: symgrad / peer",
        ("", "setting for threads", *head),
        rows,
        "The rows of peers have medians over the rounds of symgrad's time divided by the peer's time, in time on the "
        "clock, with results in new arrays. The row of symgrad has its time for each point, or for each call of an "
        "array program. symgrad and each peer decide by themselves whether a call is worth several threads. Compile "
        "times are those of one thread.",
    )


def _ratio(result: Result, peer: str) -> str:
    if peer not in result.fresh:
        return ""
    if peer == SYMGRAD:
        return duration(statistics.median(result.fresh[peer]) / result.points)
    return f"{ratios(result.fresh, peer)[1]:.2g}"


def title_of_threads(threads: int) -> str:
    return "Two threads" if threads == 2 else f"{threads} threads"


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def title_of(result: Result) -> str:
    what = WORKLOADS[result.workload].what
    at = "" if isinstance(WORKLOADS[result.workload], Program) else f", {result.points:,} points"
    threads = f", {result.threads} threads" if result.threads > 1 else ""
    return f"{result.workload}: {what}{at}{threads}"


def ulps(errors: Errors | None) -> tuple[str, str]:
    """Return the worst error and the median one as text."""
    if errors is None:
        return "", ""
    if errors.missing == 1:
        return "no number", ""
    gaps = f", no number at {errors.missing:.0%}" if errors.missing else ""
    return f"{errors.worst:.2g}{gaps}", f"{errors.median:.2g}"


def _of_result(result: Result) -> Sheet:
    rows: list[tuple[str, ...]] = []
    for peer in sorted(result.fresh, key=lambda p: statistics.median(result.fresh[p])):
        cells = [cell for way in result.ways for cell in _timed(way, peer, result.points)]
        rows.append((PEERS[peer].title, *cells, *ulps(result.errors.get(peer))))
    one = "a call" if isinstance(WORKLOADS[result.workload], Program) else "a point"
    head = ("", f"{one}, new arrays", "symgrad / peer", f"{one}, given arrays", "symgrad / peer")
    return Sheet(title_of(result), (*head, "worst error", "median error"), rows, _below(result))


def _timed(seconds: Mapping[str, Sequence[float]], peer: str, points: int) -> tuple[str, str]:
    """Return the time and symgrad's ratio to it as text."""
    if peer not in seconds:
        return "", ""
    time = duration(statistics.median(seconds[peer]) / points)
    if peer == SYMGRAD or SYMGRAD not in seconds:
        return time, ""
    low, middle, high = ratios(seconds, peer)
    return time, f"{middle:.2g} ({low:.2g} to {high:.2g})"


def _below(result: Result) -> str:
    workload = WORKLOADS[result.workload]
    if isinstance(workload, Pointwise):
        relative = "each value" if workload.relative_to == "each" else "the largest result at the point"
        note = f" {workload.note}." if workload.note else ""
        compared = f"Errors at {result.compared} points, relative to {relative}.{note}"
    else:
        compared = "Errors of all entries, relative to the largest entry of the array."
    absent = {p: reason for p, reason in result.absent.items() if p != "copy"}
    return " ".join(filter(None, [compared, _absent(absent, lambda p: PEERS[p].title)]))


def _absent(absent: Mapping[str, str], title: Callable[[str], str]) -> str:
    """Return who is not there and why, each reason once."""
    reasons: dict[str, list[str]] = {}
    for name, reason in absent.items():
        reasons.setdefault(reason, []).append(title(name))
    told = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
    return f"Without figures: {told}." if told else ""


def _first(board: Board) -> Sheet:
    """From the start of a process to its first result."""
    first = board.first
    rows: list[tuple[str, ...]] = []
    for name in sorted(first.processor, key=lambda n: statistics.median(first.processor[n])):
        times = ""
        if BASELINE in first.processor and name != BASELINE:
            low, middle, high = ratios(first.processor, BASELINE, name)
            times = f"{middle:.2g} ({low:.2g} to {high:.2g})"
        processor, wall = (duration(statistics.median(t[name])) for t in (first.processor, first.wall))
        rows.append((title_of_script(name), processor, times, wall))
    below = (
        "The time from the start of `python` to the result. The script of a peer imports it, "
        "differentiates W2 with it (or has the partials written out, if it does not differentiate), "
        "compiles value and partials, and calls them once at 1,000 points. Whole processes are timed in "
        "turns, including processes that they start. The bytecode of all packages is on disk, and so is "
        "what a peer keeps on disk by itself. symgrad keeps the code of functions that all kernels share; "
        "in *nothing on disk* it starts without this code."
    )
    return Sheet(
        "The first result of a fresh process",
        ("", "processor time", "divided by that of the imports alone", "time on the clock"),
        rows,
        " ".join(filter(None, [below, _absent(first.absent, title_of_script)])),
    )


def title_of_script(name: str) -> str:
    return PEERS[name].title if name in PEERS else f"`{name}` alone" if name == BASELINE else name


def _compiling(board: Board) -> Sheet:
    """Compile times, one row for each workload."""
    peers = [p for p in PEERS if any(board.compiled[w].get(p) for w in board.compiled) and p != "copy"]
    rows = [
        (name, *(duration(statistics.median(taken[p])) if taken.get(p) else "" for p in peers))
        for name, taken in board.compiled.items()
    ]
    return Sheet(
        "Compiling",
        ("", *(PEERS[p].title for p in peers)),
        rows,
        "Processor time from the formula to the end of the first call, including the compilers that a peer "
        "starts. Each figure is measured in a new process that has already compiled a small formula, `x*y` "
        "with both partials, so that imports are not counted. (Libxc does not have this formula.) A figure "
        "is the median of three processes, or the time of one process if it takes more than two seconds; "
        "all have the same limit of time on the clock. By default symgrad first takes the time of its "
        "quick code; the time of better code is added later, if this pays.",
    )


def _phases(board: Board) -> Sheet:
    parts = ("read", "derive", "compile", "first", "again")
    rows = [
        (
            workload,
            PEERS[code].title,
            *(duration(statistics.median(found[p])) if found.get(p) else "" for p in parts),
        )
        for workload, codes in board.phases.items()
        for code, found in codes.items()
        if found
    ]
    return Sheet(
        "Compiling: symgrad's parts",
        ("", "", "read or build", "derive", "compile", "compile, nothing on disk", "all again"),
        rows,
        "With nothing on disk, the functions that kernels share are compiled, too, which happens once on a "
        "machine. The last column is the time of everything again in the same process. Array programs have "
        "no quick code.",
    )


def rich_table(sheet: Sheet) -> Table:
    """Return a table for the terminal."""
    made = Table(
        *sheet.head, title=sheet.title, title_justify="left", caption=sheet.below, caption_justify="left"
    )
    for row in sheet.rows:
        made.add_row(*row, style="bold" if row[0] == PEERS[SYMGRAD].title else None)
    return made


def page(board: Board, picture: str) -> str:
    """Return the part of docs/benchmarks.md about peers."""
    used = [p for p in PEERS if p in board.versions and p != "copy"]
    lines = [
        "## Scoreboard",
        "",
        "symgrad and every peer that is installed are measured on the same workloads. Each peer runs in a",
        "process of its own, which has compiled its kernel. All take samples in turn, round after round, so",
        "that a busy machine slows all alike. A time is the median over the rounds, of processor time in",
        "tables of one thread, and of time on the clock in tables of several threads. The tables *symgrad /",
        "peer* have the median over the rounds of symgrad's time divided by the peer's time: below 1,",
        "symgrad is faster. An error is a multiple of 2**-52, about one unit in the last place, against",
        "values with at least forty digits (formulas in mpmath, arrays in ball arithmetic).",
        "",
        "Two ways to return results are measured: in new arrays, by all peers, and in given arrays, by the",
        "peers that can write into them. Each way is only compared with the same way. An aim counts the",
        "less favourable of the two; the tables and the picture have results in new arrays. symgrad has two",
        "rows or columns for the quick code that it compiles first and for the better code that replaces it",
        "when this pays. The command also prints quartiles and median errors.",
        "",
        f"- Machine: {board.machine}",
        f"- Command: `{board.command}`; `make board` runs it after `make peers`",
        "",
        f"![symgrad's time divided by each peer's]({picture})",
        "",
        *_markdown(
            Sheet("Who is measured", ("", "version", "how"), [_peer(p, board.versions) for p in used])
        ),
    ]
    for sheet in sheets(board, short=True):
        lines += _markdown(sheet)
    return "\n".join(lines)


def _peer(name: str, versions: Mapping[str, str]) -> tuple[str, ...]:
    peer = PEERS[name]
    version = f"{peer.package} {versions[name]}" if peer.package not in peer.title.lower() else versions[name]
    return peer.title, version, peer.note


def _markdown(sheet: Sheet) -> list[str]:
    escaped = [tuple(cell.replace("|", "\\|").replace("*", "\\*") for cell in row) for row in sheet.rows]
    return [
        f"### {sheet.title.replace('*', chr(92) + '*')}",
        "",
        "| " + " | ".join(sheet.head) + " |",
        "|---" * len(sheet.head) + "|",
        *("| " + " | ".join(row) + " |" for row in escaped),
        "",
        *([sheet.below, ""] if sheet.below else []),
    ]
