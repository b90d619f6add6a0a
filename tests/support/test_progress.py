"""Long work shows itself: what passes say, who watches, and that nothing of it costs anything where nobody does."""

from __future__ import annotations

import logging
import os
import threading
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.printing.progress import progress_text
from symgrad.rewrite import engine
from symgrad.support.progress import Watcher, Work, reports_progress, steps, watch_usually, watching
from tests.processes import printed
from tests.waiting import until


class Seen(Watcher):
    """Keeps what it is shown."""

    def __init__(self, after=0.0):
        super().__init__(after)
        self.seen = []
        self.ended = 0

    def show(self, works):
        self.seen += [[(w.what, w.done, w.total, w.share) for w in stack] for stack in works]

    def gone(self):
        self.ended += 1


def threads():
    return [t for t in threading.enumerate() if t.name == "symgrad progress"]


def test_nobody_watches_and_nothing_is_wrapped(monkeypatch):
    monkeypatch.setattr(
        "symgrad.support.progress._usual", None
    )  # the command line, in another test, watches from then on
    monkeypatch.setattr("symgrad.support.progress._usual_watcher", None)
    items = [1, 2]
    assert steps("ir", "counting", items) is items
    with reports_progress("ir", "counting") as work:
        work.advance()
    assert work.done == 1
    assert not threads()


def test_steps_are_counted_with_what_is_left():
    watcher = Seen()
    with watching(watcher), reports_progress("ir", "the whole"):
        for k in steps("ir", "a part", range(5)):
            until(lambda k=k: any(len(stack) == 2 and stack[1][1] == k for stack in watcher.seen))
    inner = [stack[-1] for stack in watcher.seen if len(stack) == 2]
    assert {(w, total) for w, _, total, _ in inner} == {("a part", 5)}
    done = [d for _, d, _, _ in inner]
    assert done == sorted(done)
    assert done[-1] > done[0]
    assert all(stack[0][0] == "the whole" for stack in watcher.seen)
    assert watcher.ended == 1
    assert not threads()


def test_a_loop_that_counts_anyway_is_asked():
    done = dict.fromkeys(range(3))
    work = Work("rewriting", 12, count=done.__len__)
    assert (work.share, work.done) == (0.25, 3)
    assert Work("machine code", expected=1e9).left == pytest.approx(1e9, rel=1e-3)
    assert Work("unknown").left is None


@given(
    total=st.none() | st.integers(0, 20),
    growth=st.lists(st.integers(0, 5), max_size=20),
    steps_done=st.integers(0, 30),
    expected=st.none() | st.floats(1e-9, 1e9),
)
def test_progress_never_passes_its_total(total, growth, steps_done, expected):
    grown = iter([*growth, *[0] * 1_000])
    found = [total]

    def estimate():
        found[0] += next(grown)
        return found[0]

    for said in (total, estimate if total is not None else None):
        work = Work("rewriting", said, expected=expected)
        for k in range(steps_done):
            work.advance()
            done, of = work.counted
            assert done == k + 1
            assert of is None or done <= of
            assert work.share is None or 0 <= work.share <= 1
            assert work.left is None or work.left >= 0
    counted = dict.fromkeys(range(steps_done))
    text, share, _ = progress_text([Work("rewriting", total, count=counted.__len__)])
    known = bool(total) and steps_done <= total
    assert (" of " in text) == (share is not None) == known


def test_work_that_takes_longer_than_expected_has_no_share():
    work = Work("machine code", expected=1e-9)
    while work.seconds <= 1e-9:  # a clock may stand still for as long
        pass
    assert (work.share, work.left) == (None, None)


@pytest.mark.parametrize("terms", [1, 4, 12])
def test_rewriting_counts_the_equations_that_it_makes(monkeypatch, terms):
    works, passed = [], []
    step = engine._step

    @contextmanager
    def kept(_room, what, total=None, **options):
        works.append(Work(what, total, **options))
        yield works[-1]
        look()

    def look():
        total = works[-1]._total
        passed.append((works[-1].done, total() if callable(total) else total))

    def checked(*arguments):
        look()
        return step(*arguments)

    monkeypatch.setattr(engine, "reports_progress", kept)
    monkeypatch.setattr(engine, "_step", checked)
    x = sg.symbols("x")
    y = sg.sum(sg.arrays.stack([(x + k) * (x - k) * sg.exp(k * x) * sg.exp(-x) for k in range(terms)]))
    str(sg.grad(y * y, x).canonical())
    assert passed
    assert all(done <= total for done, total in passed), [p for p in passed if p[0] > p[1]][:3]


def test_what_an_exception_leaves_is_taken_away():
    watcher = Seen(after=60.0)
    with watching(watcher):
        with pytest.raises(KeyboardInterrupt), reports_progress("ir", "the whole"):
            list(map(stop_at_two, steps("ir", "a part", range(5))))
        assert not watcher._open  # what is left would be shown for ever
        for _ in steps("ir", "left early", range(5)):
            break
        assert not watcher._open
    assert not threads()


def stop_at_two(k):
    if k == 2:
        raise KeyboardInterrupt


@pytest.mark.parametrize("moment", ["after", "before"])
def test_an_interrupt_while_it_begins_leaves_nothing(monkeypatch, moment):
    start = threading.Thread.start

    def interrupted(self):
        if moment == "after":
            start(self)
        raise KeyboardInterrupt

    watcher = Seen()
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with watching(watcher), pytest.raises(KeyboardInterrupt), reports_progress("ir", "the whole"):
        raise AssertionError("the body does not run")
    assert not watcher._open
    assert not threads()
    monkeypatch.undo()
    with watching(watcher), reports_progress("ir", "once more"):
        until(lambda: watcher.seen)


def test_threads_have_a_line_each_and_a_choice_each():
    watcher = Seen()

    def work(what):
        with watching(watcher), reports_progress("ir", what):
            until(lambda: {stack[0][0] for stack in watcher.seen} == {"one", "two"})

    both = [threading.Thread(target=work, args=(what,)) for what in ("one", "two")]
    for t in both:
        t.start()
    for t in both:
        t.join()
    assert {stack[0][0] for stack in watcher.seen} == {"one", "two"}
    assert all(len(stack) == 1 for stack in watcher.seen), "neither is a part of the other"
    assert not threads()


def test_who_watches_usually():
    watcher = Seen()
    watch_usually(lambda: watcher)
    try:
        with reports_progress("ir", "usual"):
            until(lambda: watcher.seen)
        with watching(None), reports_progress("ir", "unseen"):
            assert not threads()
    finally:
        watch_usually(None)
    assert {stack[0][0] for stack in watcher.seen} == {"usual"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_shows_nothing_and_does_not_wait():
    code = """
import os
from symgrad.support.progress import reports_progress, watching
from tests.support.test_progress import Seen, threads
from tests.waiting import until
watcher = Seen()
with watching(watcher), reports_progress("ir", "of the parent"):
    until(lambda: watcher.seen)
    child = os.fork()
    with reports_progress("ir", "a part"):
        if child == 0:
            os._exit(len(threads()))
        seen = len(watcher.seen)
        until(lambda: len(watcher.seen) > seen)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert printed(code, quiet=False) == "0\n"


class Told(Seen):
    """Remembers all work that began, with how many steps it has."""

    def __init__(self) -> None:
        super().__init__()
        self.said: dict[str, int | None] = {}

    def begin(self, work: Work) -> None:
        self.said.setdefault(work.what, work.total)
        super().begin(work)


def test_everything_that_counts_says_so():
    """The passes of a large program announce themselves, with how many equations there are."""
    lines = ["x : real", "u : real", "h0 = x"]
    lines += [f"h{k + 1} = sin(h{k}*u + {k})*{k + 2} + x*exp(-h{k}**2)" for k in range(150)]
    watcher = Told()
    with watching(watcher):
        p = sg.parse("\n".join(lines))
        g = sg.grad(p["h150"], ["x", "u"])
        sg.compile([p["h150"], *g])
        sg.jvp(p["h150"], ["x"], [1])
    counted = {"differentiating", "differentiating forward", "gathering numbers", "writing code"}
    assert counted <= {what for what, total in watcher.said.items() if total}
    assert {"reading the program", "compiling", "ordering equations"} <= watcher.said.keys()


def test_verdicts_reviews_and_moments_say_so():
    watcher = Told()
    with watching(watcher):
        sg.equal("abs(x)**2", "x**2")
        sg.verify("x**2", "x", "2*x")
        sg.equivalent("x*y", "y*x")
        sg.review("y = x**2\ndy/dx = 2*x")
        str(sg.audit(sg.parse("x : real; u ~ Normal(0, 1); y = x**2*u")["y"], "x"))
        sg.minimize(sg.symbols("a") ** 2, over="a", start={"a": 1.0})
    expected = {
        "deciding whether they are equal",
        "deciding whether it is the derivative",
        "deciding whether they are equivalent",
        "trying points",
        "proving case 1",
        "reviewing",
        "averaging",
        "looking for a moment",
        "minimising by bfgs",
    }
    assert expected - watcher.said.keys() == set(), watcher.said


def test_passes_are_logged_with_their_times(caplog):
    with caplog.at_level(logging.DEBUG, logger="symgrad"):
        p = sg.parse("x : real; y = sin(x)**2*41")
        sg.grad(p["y"], "x")
    lines = [r.getMessage() for r in caplog.records if r.name == "symgrad.backward"]
    assert any(line.startswith("differentiating: ") and line.endswith(" steps") for line in lines)
