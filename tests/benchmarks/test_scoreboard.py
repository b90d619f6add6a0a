"""The scoreboard measures what it says; how fast anyone is, no test decides."""

from __future__ import annotations

import json
import math
import os
import sys
import threading
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path

import mpmath
import numpy as np
import pytest
from click.testing import CliRunner

import symgrad as sg
from benchmarks.published import pbe_derivatives
from benchmarks.scoreboard import report
from benchmarks.scoreboard.__main__ import main
from benchmarks.scoreboard.accuracy import Errors, errors, reference
from benchmarks.scoreboard.aims import COMPARED, findings
from benchmarks.scoreboard.board import Board, First, Result, Settings, measure, ratios
from benchmarks.scoreboard.child import Child
from benchmarks.scoreboard.first import BASELINE, NOTHING, SCRIPTS, measure_first
from benchmarks.scoreboard.peers import PEERS, Run, UnableError, pieces, side_by_side
from benchmarks.scoreboard.pointwise import POINTWISE, SMALLEST, graph
from benchmarks.scoreboard.processes import python_for
from benchmarks.scoreboard.programs import PROGRAMS, below_diagonal, mixture_by_hand
from benchmarks.scoreboard.tape import Tape, namespace, partials
from benchmarks.scoreboard.workloads import WORKLOADS, inputs_of
from symgrad.compiler.kernels.calls.threads import cores

MP = mpmath.MPContext()
MP.dps = 90


def test_the_tape_has_the_derivatives_of_the_published_energy() -> None:
    workload = POINTWISE["PBE-2"]
    point = (0.3, 0.1, 0.2, 0.05, 0.1)
    tape, outputs = workload.taped()
    expected = pbe_derivatives(MP, point, 2)
    found = tape.evaluate(outputs, point, MP)
    assert len(found) == 21
    for (_, index), value in zip(workload.outputs, found, strict=True):
        assert abs(value / expected[index] - 1) < MP.mpf(10) ** -60, index


@pytest.mark.parametrize("name", ["sin", "cos", "exp", "log", "log1p", "tanh", "sqrt"])
def test_the_tape_differentiates_every_function_twice(name: str) -> None:
    tape = Tape()
    x = tape.add("input", 0)
    ((_, _, second),) = partials(tape, [getattr(namespace(tape), name)(x * x + 2)], [x], 2)
    (found,) = tape.evaluate([second], [0.7], MP)
    expected = MP.diff(lambda t: getattr(MP, name)(t * t + 2), MP.mpf(0.7), 2)
    assert abs(found / expected - 1) < 1e-25


@pytest.mark.parametrize("name", ["W1", "W2", "W5"])
def test_what_is_written_by_hand_is_the_reference(name: str) -> None:
    workload = POINTWISE[name]
    exact = reference(workload, 5)
    assert workload.by_hand is not None
    found = [np.broadcast_to(v, (5,)) for v in workload.by_hand(*workload.inputs_at(5))]
    assert errors(workload, found, exact).worst < 100
    spoiled = [v * (1 + 1e-9) for v in found]
    assert errors(workload, spoiled, exact).worst > 1e5


def test_a_random_graph_reads_all_inputs() -> None:
    xs = list(sg.symbols(" ".join(f"x{k}" for k in range(10))))
    (y,) = graph(sg, xs, 200)
    assert len(y.inputs) == 10
    assert len(y.equations) == 200


def test_the_mixture_of_gaussians_is_the_one_of_its_publication() -> None:
    # The example that comes with ADBench, and the values of its own tests.
    alphas = np.array([-0.649014, 1.181166, -0.758453])
    means = np.array([[0.092339, 0.186260], [0.345561, 0.396767], [0.538817, 0.419195]])
    icf = np.array(
        [[0.586443, -0.851887, 0.800321], [-1.509405, 0.875874, -0.242790], [0.166813, -1.965419, -1.270071]]
    )
    x = np.array([[1.175171, 2.029160]])
    value, *gradients = mixture_by_hand(alphas, means, icf, x, below_diagonal(2))
    assert value == pytest.approx(8.073804080049758, rel=1e-12)
    assert gradients[0] == pytest.approx(
        [0.10866285550865246, -0.7412700395238985, 0.6326071840152461], rel=1e-10
    )
    assert gradients[1][0] == pytest.approx([1.1169257653278701, 0.16333301355145527], rel=1e-10)
    assert gradients[2][2] == pytest.approx(
        [1.7189230977500494, 0.8600910907908669, -0.9946409304663228], rel=1e-10
    )


@pytest.mark.parametrize("name", ["Rosenbrock", "GMM"])
def test_programs_by_hand_are_symgrads(name: str) -> None:
    workload = PROGRAMS[name]
    program = sg.parse(workload.text)
    arrays = workload.arrays()
    assert [str(i) for i in program.inputs] == list(arrays)
    loss = program["loss"]
    kernel = sg.compile([loss, *sg.grad(loss, [program[n] for n in workload.wrt])], program.inputs)
    for ours, theirs in zip(kernel(*arrays.values()), workload.by_hand(*arrays.values()), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10 * np.abs(theirs).max())


def test_errors_are_relative_and_gaps_are_counted() -> None:
    workload = POINTWISE["W2"]
    exact = [
        np.array([mpmath.mpf(1), mpmath.mpf(2)], dtype=object),
        np.array([mpmath.mpf(0)] * 2, dtype=object),
    ]
    found = errors(workload, [np.array([1.0, math.nan]), np.array([2.0**-50, 0.0])], exact)
    assert found == Errors(worst=4.0, median=4.0, missing=0.5)


def board() -> Board:
    fresh = {"symgrad": [1e-3, 2e-3, 4e-3], "heyoka-fast": [2e-3, 8e-3, 4e-3], "libxc": [1.0]}
    given = {"symgrad": [1e-3, 1e-3, 1e-3], "heyoka-fast": [1e-2, 1e-2, 1e-2]}
    close = Errors(1.0, 0.5, 0.0)
    result = Result("W5", 1_000, 200, fresh, given, {"symgrad": Errors(3.0, 1.0, 0.0), "heyoka-fast": close})
    result.absent = {"symjit": "not installed", "numexpr": "a | b"}
    quick = {"compile": [0.03], "derive": [0.001]}
    return Board(
        results=[result],
        compiled={"W5": {"symgrad": [0.15], "symgrad-quick": [0.05]}},
        phases={"W5": {"symgrad": {"compile": [0.13]}, "symgrad-quick": quick}},
        first=First(
            {BASELINE: [0.1, 0.1], "symgrad": [0.2, 0.4]}, {BASELINE: [0.2, 0.2], "symgrad": [0.4, 0.4]}
        ),
        versions={"symgrad": "1", "libxc": "2"},
        machine="a machine",
        command="c",
    )


def test_ratios_are_taken_round_by_round() -> None:
    seconds = board().results[0].fresh
    assert ratios(seconds, "heyoka-fast") == (0.375, 0.5, 0.75)  # of 1/2, 1/4, 1
    assert ratios(seconds, "libxc")[1] == 1e-3  # it was slow: one round
    assert Board.from_json(json.loads(json.dumps(board().to_json()))) == board()


def test_an_aim_counts_the_less_favourable_way() -> None:
    result = board().results[0]
    assert result.largest_ratio("heyoka-fast") == 0.5
    assert result.slowest("symgrad") == 2e-3
    assert result.slowest("heyoka-fast") == 1e-2
    result.given["symgrad"] = [2e-2, 3e-2, 4e-2]
    assert result.largest_ratio("heyoka-fast") == 3.0
    assert result.largest_ratio("libxc") == 1e-3  # it cannot be given arrays


def test_aims_say_what_is_not_reached() -> None:
    found = {f.aim: f for f in findings(board())}
    assert found["W5 at 1,000 points"].holds
    assert found["W5 at 1,000 points"].against == "heyoka, fast-math"
    assert found["W5: quick code compiled"].figure == 0.03
    assert found["the first result of a fresh process (W2)"].figure == pytest.approx(3.0)
    assert not found["the first result of a fresh process (W2)"].holds
    assert not found["worst error: at most twice that of the most accurate peer"].holds
    assert "GMM" not in found


def test_the_page_lists_who_is_absent_and_why() -> None:
    text = report.page(board(), "images/scoreboard.svg")
    _, _, speed = text.partition("### One thread: symgrad / peer\n")
    assert "|  | symgrad | heyoka, fast-math | Libxc |" in speed
    assert ", 1,000 points | 2 us | 0.5 | 0.001 |" in speed
    _, _, absent = text.partition("### Peers without figures\n")
    assert "| not installed | symjit (W5) |" in absent
    assert "| a \\| b | numexpr (W5) |" in absent
    _, _, errors = text.partition("### Worst errors\n")
    assert ", 1,000 points | 3 | 1 |" in errors
    assert "not reached" in text


def test_quick_code_has_its_own_speed_and_its_own_compile_time() -> None:
    text = report.page(board(), "images/scoreboard.svg")
    _, _, section = text.partition("### Compiling")
    assert "|  | symgrad | symgrad, quick code |" in section
    assert "| W5 | 150 ms | 50 ms |" in section
    (parts,) = (s for s in report.sheets(board()) if s.title == "Compiling: symgrad's parts")
    assert ("W5", "symgrad, quick code", "", "1 ms", "30 ms", "", "") in parts.rows


def test_the_page_tells_the_first_results_of_processes() -> None:
    there = board()
    there.first.absent = {"torch-compile": "not done after 5 s"}
    _, _, section = report.page(there, "images/scoreboard.svg").partition("### The first result")
    assert "| symgrad | 300 ms | 3 (2.5 to 3.5) | 400 ms |" in section
    assert f"| `{BASELINE}` alone | 100 ms |  | 200 ms |" in section
    assert "Without figures: PyTorch, compiled: not done after 5 s." in section
    assert "### The first result" not in report.page(Board(), "images/scoreboard.svg")


def first_of(peers: tuple[str, ...], limit: float = 60.0) -> First:
    settings = Settings(peers, [(sys.executable, frozenset({"llvmlite"}))], rounds=1, limit=limit)
    measured = board()
    measure_first(measured, settings)
    return measured.first


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="nobody says what the processes took")
def test_first_results_are_those_of_whole_processes() -> None:
    found = first_of(("symgrad", "numpy", "jax", "copy"))
    assert list(found.processor) == list(found.wall)
    assert set(found.processor) == {BASELINE, "symgrad", NOTHING, "numpy"}
    assert found.absent == {"jax": "not installed"}
    for name in (BASELINE, "symgrad", "numpy"):
        assert len(found.processor[name]) == len(found.wall[name]) == 1
        assert found.processor[name][0] > 0.01


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="nobody says what the processes took")
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("print(1.0)", "it prints another number: 1.0"),
        ("raise SystemExit(3)", "its process ended (status 3)"),
        ("import time; time.sleep(60)", "not done after 1 s"),
    ],
)
def test_a_first_result_that_is_none_is_told(
    script: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "baseline.py").write_text("")
    (tmp_path / "with_numpy.py").write_text(script)
    monkeypatch.setattr("benchmarks.scoreboard.first.SCRIPTS", tmp_path)
    found = first_of(("numpy",), limit=1.0)
    assert found.absent == {"numpy": reason}
    assert list(found.processor) == [BASELINE]


def test_every_first_result_is_of_a_peer() -> None:
    names = {p.stem.removeprefix("with_").replace("_", "-") for p in SCRIPTS.glob("with_*.py")}
    assert names < set(PEERS)
    # Libxc has no formula of ours, and variants of a peer differ in speed, not in how they begin.
    without = {
        "libxc",
        "copy",
        "symgrad-quick",
        "symgrad-fast",
        "heyoka-fast",
        "numba-svml",
        "numba-svml-fast",
    }
    assert set(PEERS) - names == without


def threaded() -> Board:
    """What `board` has, and the same workload in two threads, where symgrad is ten times as slow."""
    one = board()
    for points in (1_000, 100_000):
        fresh, given = (
            {p: [(10 if p == "symgrad" else 1) * s for s in t] for p, t in way.items()}
            for way in one.results[0].ways
        )
        fresh["sympy"] = [1.0]
        one.results.append(Result("W5", points, 200, fresh, given, one.results[0].errors, threads=2))
    return one


def test_threads_have_aims_and_one_table_of_their_own() -> None:
    assert threaded().of(1) == board()
    assert Board.from_json(json.loads(json.dumps(threaded().to_json()))) == threaded()
    found = {f.aim: f for f in findings(threaded().of(2))}
    assert found["W5 at 1,000 points"].figure == 5
    assert not any("compiled" in aim for aim in found)
    assert {"W1", "W2", "W4", "W5", "PBE-3", "MLP", "GMM"} == COMPARED
    text = report.page(threaded(), "images/scoreboard.svg")
    assert text.replace("Two threads", "").count("W5 at 1,000 points") == 2
    _, _, section = text.partition("### Two threads: symgrad / peer")
    assert "| W5, 100,000 points |" in section
    assert "W5, 1,000 points" not in section
    assert "| heyoka, fast-math | set_nthreads | 5 |" in section
    assert "| SymPy lambdify | one thread | 0.01 |" in section
    assert ", 2 threads" not in text
    assert ", 2 threads" in "".join(s.title for s in report.sheets(threaded()))


def test_what_took_a_peer_too_long_is_not_begun_again() -> None:
    late = board()
    late.results[0].absent = {"numpy": "compile: not done after 5 s", "sympy": "not installed"}
    late.results.append(replace(late.results[0], workload="W4"))
    settings = Settings(("numpy", "sympy"), [("no-such-python", frozenset({"sympy"}))], threads=2)
    for name, expected in (
        ("W5", "compile: not done after 5 s"),
        ("W4-10k", "compile: not done after 5 s (W4)"),
        ("W4-100k", "compile: not done after 5 s (W4)"),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("benchmarks.scoreboard.board._reference", lambda *_: [])
            patch.setattr("benchmarks.scoreboard.board.Worker", _unable)
            measure(late, name, settings)
        assert late.results[-1].absent == {"numpy": expected, "sympy": "begun"}


def _unable(*_: object) -> None:
    raise UnableError("begun")


def test_boards_are_put_together_by_threads(tmp_path: Path) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    one.write_text(json.dumps(board().to_json()))
    two.write_text(json.dumps(threaded().of(2).to_json()))
    done = CliRunner().invoke(
        main, ["--load", str(two), "--load", str(one)], env={"COLUMNS": "200"}, catch_exceptions=False
    )
    assert done.exit_code == 0
    places = [done.output.index(words) for words in ("Aims", "Two threads: aims", "Compiling")]
    assert places == sorted(places)
    assert done.output.count("W5: Panda arm") == 3
    assert "W5: quick code compiled" in done.output
    assert "The first result of a fresh process" in done.output


@pytest.mark.parametrize("count", [1, 3])
def test_pieces_are_computed_side_by_side(count: int) -> None:
    parts = pieces(10, count)
    assert len(parts) == count
    assert [k for part in parts for k in range(10)[part]] == list(range(10))
    met = threading.Barrier(count, timeout=20)  # no piece passes before all have begun
    done: list[slice] = []

    def work(part: slice) -> None:
        met.wait()
        done.append(part)

    side_by_side([partial(work, part) for part in parts])()
    assert len(done) == count


@pytest.mark.parametrize(("peer", "workload"), [("symgrad", "W2"), ("symgrad", "GMM")])
def test_values_in_two_threads_are_those_in_one(peer: str, workload: str) -> None:
    prepare = import_module(f"benchmarks.scoreboard.peers.{PEERS[peer].module}").prepare
    work = WORKLOADS[workload]
    inputs = inputs_of(work, 40_001)
    found: list[list[np.ndarray]] = []
    for threads in (1, min(2, cores())):
        run = prepare(work, "", threads)(inputs)
        for call in (run.fresh, run.given):
            assert call is not None
            found.append([np.array(v) for v in run.outputs(call())])
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("peer", [p for p in PEERS if set(PEERS[p].needs) <= {"llvmlite", "sympy"}])
def test_new_arrays_and_given_ones_hold_the_same(peer: str) -> None:
    prepare = import_module(f"benchmarks.scoreboard.peers.{PEERS[peer].module}").prepare
    workload = POINTWISE["W1" if peer == "copy" else "W2"]
    inputs = workload.inputs_at(100)
    run = prepare(workload, PEERS[peer].variant, 1)(inputs)
    ways = [run.fresh, *filter(None, [run.given])]
    assert len(ways) == (1 if peer in ("numpy", "sympy") else 2)
    assert workload.by_hand is not None
    expected = [] if peer == "copy" else workload.by_hand(*inputs)
    for call in ways:
        found = [np.array(v) for v in run.outputs(call())]
        for value, by_hand in zip(found, expected, strict=True):
            np.testing.assert_allclose(value, by_hand, rtol=1e-10)
    first, second = run.outputs(run.fresh()), run.outputs(run.fresh())
    assert not any(np.shares_memory(v, w) for v, w in zip(first, second, strict=True))


def test_quick_code_is_measured_as_quick_code() -> None:
    from benchmarks.scoreboard.peers.by_symgrad import _quick, _read

    xs, values = _read(POINTWISE["W2"])
    kept, replaced = _quick(values, inputs=xs), sg.compile(values, inputs=xs)
    assert kept.quick
    assert replaced.quick
    points = POINTWISE["W2"].inputs_at(1_000_000)
    for _ in range(20):
        np.testing.assert_array_equal(kept(*points), replaced(*points))
    assert not replaced.quick
    assert kept.quick


@pytest.mark.parametrize("peer", ["symgrad", "symgrad-quick", "numpy", "sympy"])
def test_a_process_compiles_the_small_formula_before_the_workload(
    peer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = Child(peer, "W2", 1)
    asked: list[str] = []
    prepared: list[object] = []
    prepare = child.module.prepare

    def noted(workload: object, *how: object) -> object:
        prepared.append(workload)
        return prepare(workload, *how)

    class Here:
        def __init__(self, *_: object) -> None: ...

        def ask(self, what: str, *arguments: object, limit: float) -> object:
            assert (limit == 5.0) is (what in ("compile", "again", "keep_nothing"))
            asked.append(what)
            if what == "keep_nothing":
                return {}
            return getattr(child, what)(*arguments)

        def close(self) -> None: ...

    monkeypatch.setattr(child.module, "prepare", noted)
    monkeypatch.setattr("benchmarks.scoreboard.board.Worker", Here)
    monkeypatch.setattr(
        "benchmarks.scoreboard.board._reference", lambda *_: [np.full(200, mpmath.mpf(1))] * 3
    )
    python = (sys.executable, frozenset({"llvmlite", "sympy"}))
    measured = Board()
    measure(measured, "W2", Settings((peer,), [python], quick=True, rounds=1, limit=5.0))
    assert asked[:3] == ["ready", "warm_up", "compile"]
    assert prepared[:2] == [SMALLEST, POINTWISE["W2"]]
    assert len(measured.results[0].fresh[peer]) == 1


def test_other_values_in_given_arrays_are_told() -> None:
    child = Child("numpy", "W2", 1)
    ones = np.ones(5)
    child.run = Run(lambda: [ones], lambda found: found, lambda: [ones * (1 + 1e-12)])
    assert len(child.values(3)["values"]) == 1
    child.run = Run(lambda: [ones], lambda found: found, lambda: [ones * (1 + 1e-6)])
    with pytest.raises(UnableError, match="it computes others"):
        child.values(3)


def test_a_peer_that_is_not_installed_says_so() -> None:
    nothing = [("python", frozenset({"llvmlite"})), ("other", frozenset({"numba"}))]
    assert python_for("symgrad", nothing) == "python"
    assert python_for("numba-svml", nothing) == "other"
    with pytest.raises(UnableError, match="not installed"):
        python_for("jax", nothing)
    assert all(Path(f"benchmarks/scoreboard/peers/{p.module}.py").exists() for p in PEERS.values())


@pytest.mark.slow
def test_the_scoreboard_runs_from_the_command_line() -> None:
    done = CliRunner().invoke(
        main,
        [
            *("--quick", "--only", "W2", "--only", "Rosenbrock", "--peers-python", sys.executable),
            *("--threads", "1", "--threads", "2"),
        ],
        env={"COLUMNS": "200"},
        catch_exceptions=False,
    )
    assert done.exit_code == 0
    for words in (
        "symgrad",
        "NumPy",
        "SymPy lambdify",
        "its expressions are of numbers",
        "W2: quick code compiled",
    ):
        assert words in done.output
    if cores() > 1:
        for words in ("Two threads: symgrad / peer", "compile(threads=...)", "those of its BLAS"):
            assert words in done.output
