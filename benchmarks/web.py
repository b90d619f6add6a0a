"""The page of `symgrad serve`: seconds from a question to its first and to its last part, over HTTP."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import statistics
import threading
import time
from collections.abc import Iterator
from importlib.resources import files

from benchmarks.measure import Options, Row

__all__ = ["run"]

_FIRST, _NEXT = 1.0, 0.2  # seconds, promised for the first question and for each after it
_PARTS = ["gradient", "derivation", "noise", "plot"]  # what the page has open


def run(options: Options) -> Iterator[Row]:
    from symgrad.apps.web.guard import Rates
    from symgrad.apps.web.serving import server
    from symgrad.apps.web.workers import Workers

    examples = json.loads(
        (files("symgrad.apps.web") / "static" / "examples.json").read_text(encoding="utf-8")
    )
    with socket.create_server(("127.0.0.1", 0)) as listening:
        made = server(Workers(2), "127.0.0.1", rates=Rates(burst=10**6))
        thread = threading.Thread(target=lambda: asyncio.run(made.serve([listening])), daemon=True)
        options.step("web, starting")
        begun = time.perf_counter()
        thread.start()
        while not made.started and thread.is_alive():
            time.sleep(0.01)
        yield Row("start, until questions are taken", time.perf_counter() - begun, "s")
        try:
            options.step("web, the first question")
            first, _ = _seconds(listening.getsockname(), examples[0])
            yield Row("the first question, to its first part", first, "s", limit=_FIRST)
            soonest: list[float] = []
            whole: list[float] = []
            for example in examples[:4] if options.quick else examples:
                options.step(f"web, {example['title']}")
                found = [_seconds(listening.getsockname(), example) for _ in range(options.repeats(5))]
                soonest.append(statistics.median(first for first, _ in found))
                whole.append(statistics.median(last for _, last in found))
            yield Row(
                "an example, to its gradient, median of all", statistics.median(soonest), "s", limit=_NEXT
            )
            yield Row("an example, to its gradient, the slowest", max(soonest), "s")
            yield Row("an example, to the last open part, median", statistics.median(whole), "s")
            yield Row("an example, to the last open part, the slowest", max(whole), "s")
        finally:
            made.should_exit = True
            thread.join()


def _seconds(address: tuple[str, int], example: dict[str, str]) -> tuple[float, float]:
    """Return after how long the first part of an answer has come, and the last."""
    question = {k: v for k, v in example.items() if k in ("program", "of", "wrt", "claim", "range")}
    connection = http.client.HTTPConnection(*address, timeout=60)
    begun = time.perf_counter()
    body = json.dumps({**question, "parts": _PARTS})
    connection.request("POST", "/answer", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    response.readline()
    first = time.perf_counter() - begun
    response.read()
    last = time.perf_counter() - begun
    connection.close()
    return first, last
