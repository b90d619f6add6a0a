"""The processes that answer: each within its limits, and none sees what another left."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from symgrad.apps.web.answers import validate_question
from symgrad.apps.web.limits import ANSWER_BYTES
from symgrad.apps.web.workers import BusyError, Workers
from tests.processes import printed

LONG = "x : real\ny = " + "*".join(f"(x**{k} + sin({k}*x))" for k in range(1, 90))
Told = list[dict[str, Any]]
T = TypeVar("T")


def run(workers: Workers, body: Coroutine[Any, Any, T]) -> T:
    """Run in the loop of workers."""
    from tests.apps.web.serving import LOOPS

    return asyncio.run_coroutine_threadsafe(body, LOOPS[workers]).result(90)


async def told(workers: Workers, address: str = "", **question: Any) -> Told:
    return [json.loads(line) async for line in workers.answer(validate_question(question), address)]


def test_what_does_not_end_is_ended_and_the_rest_is_answered(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_part_seconds", 0.15)
    monkeypatch.setattr(workers, "_total_seconds", 60)

    async def body() -> None:
        found = await told(workers, program=LONG, parts=["gradient", "graph", "plot"])
        assert [part["part"] for part in found] == ["gradient", "graph", "plot"]
        assert any("takes longer than" in part.get("error", {}).get("message", "") for part in found)
        monkeypatch.setattr(workers, "_part_seconds", 60)
        (after,) = await told(workers, program="x**2")
        assert after["blocks"][-1]["text"] == "d/dx f = 2*x"

    run(workers, body())


def test_questions_are_answered_side_by_side_and_one_address_leaves_room_for_others(workers: Workers) -> None:
    async def body() -> None:
        many = [told(workers, "a", program=f"x**{k}") for k in range(2, 6)]
        *found, other = await asyncio.gather(*many, told(workers, "b", program="sin(x)"))
        assert [f[0]["blocks"][-1]["text"] for f in found] == [
            "d/dx f = 2*x",
            *(f"d/dx f = {k}*x**{k - 1}" for k in (3, 4, 5)),
        ]
        assert other[0]["blocks"][-1]["text"] == "d/dx f = cos(x)"
        # Whoever goes away leaves nothing behind.
        answers = workers.answer(validate_question({"program": LONG, "parts": ["graph", "latex"]}), "a")
        begun, own = asyncio.Event(), workers._acquire

        async def taken() -> Any:
            worker = await own()
            begun.set()
            return worker

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(workers, "_acquire", taken)
            asked = asyncio.ensure_future(anext(answers))
            await begun.wait()
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
        await answers.aclose()
        again = await asyncio.gather(*(told(workers, "a", program="x**2") for _ in range(3)))
        assert all("blocks" in found[0] for found in again)

    run(workers, body())


@pytest.mark.slow
def test_where_nothing_is_forked_processes_answer_several_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symgrad.apps.web.workers._FORKS", False)

    async def body() -> None:
        workers = Workers(1, part_seconds=120, total_seconds=240)
        await workers.start()
        try:
            first = [(await told(workers, program=f"x**{k}"))[0] for k in (2, 3)]
            assert [found["blocks"][-1]["text"] for found in first] == ["d/dx f = 2*x", "d/dx f = 3*x**2"]
            monkeypatch.setattr(workers, "_part_seconds", 0.1)
            late, *_ = await told(workers, program=LONG, parts=["latex"])
            assert "takes longer than" in late["error"]["message"]
            monkeypatch.setattr(workers, "_part_seconds", 120)
            (after,) = await told(workers, program="x**4")
            assert after["blocks"][-1]["text"] == "d/dx f = 4*x**3"
        finally:
            await workers.stop()

    asyncio.run(body())


def test_memory_is_bounded(workers: Workers) -> None:
    async def body() -> None:
        (found,) = await told(workers, program="x : real\ny = x*sum(ones((60000, 60000)))", parts=["plot"])
        assert "memory" in found["error"]["message"]

    run(workers, body())


def test_more_questions_than_may_wait_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symgrad.apps.web.workers.WAITING", 0)

    async def body() -> None:
        with pytest.raises(BusyError):
            await told(Workers(1), program="x")

    asyncio.run(body())


FENCED = """
import os, sys, tempfile
from symgrad.apps.web.child import restrict_process, warm_up
import symgrad, subprocess, socket, pathlib
symgrad.parse("x**2").last.text()
mine = os.path.join(sys.argv[1], "mine.txt")
restrict_process()
def refused(what):
    try:
        what()
    except PermissionError as error:
        return True
    return False
print([refused(f) for f in (
    lambda: open(mine), lambda: open(mine, "w"), lambda: os.open(mine, os.O_WRONLY | os.O_CREAT),
    lambda: open(os.path.join(os.path.dirname(symgrad.__file__), "..", "..", "x")), lambda: open("/etc/passwd"),
    lambda: subprocess.run(["id"]), lambda: os.system("id"), lambda: socket.socket(),
    lambda: os.remove(mine), lambda: os.mkdir(mine + "x"), lambda: os.rename(mine, mine + "y"),
)])
print(symgrad.grad(symgrad.parse("x : real; y = sin(x)")["y"], "x"), open(symgrad.__file__).readline()[:1] != "")
"""


def test_a_process_reads_and_writes_no_file_of_a_users(tmp_path: Any) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    lines = printed(FENCED, str(tmp_path)).splitlines()
    assert lines == [str([True] * 11), "cos(x) True"]


LIMITS = """
import resource
from symgrad.apps.web.child import restrict_process
restrict_process(memory=200)
print(*[resource.getrlimit(k)[0] for k in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE)])
try:
    bytearray(400 * 2**20)
except MemoryError:
    print("bounded")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems bound other things")
def test_the_operating_system_holds_limits() -> None:
    assert printed(LIMITS).split() == ["0", "0", "bounded"]


SERVED = """
import io, json
from symgrad.apps.web import child
programs = ({"program": p, "parts": ["gradient"]} for p in ("x**2", "y**3", "z"))
asked = io.BytesIO(b"".join(json.dumps(p).encode() + b"\\n" for p in programs))
answers = io.BytesIO()
child.serve(asked, answers, 2)
for line in answers.getvalue().splitlines():
    found = json.loads(line)
    print(found["blocks"][-1]["text"] if "blocks" in found else found)
child._write(answers := io.BytesIO(), {"part": "latex", "blocks": ["x" * 2_000_000]})
print(len(answers.getvalue()), json.loads(answers.getvalue())["error"]["message"])
"""


def test_a_process_answers_so_many_questions_each_within_a_length() -> None:
    *lines, last = printed(SERVED).splitlines()
    assert lines == ["{'ready': True}", "d/dx f = 2*x", "{}", "d/dy f = 3*y**2", "{}"]
    assert int(last.split()[0]) < ANSWER_BYTES
    assert "too long" in last
