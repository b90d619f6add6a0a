"""A server in a thread, on a port of its own, that is always stopped."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from typing import Any

from symgrad.apps.web.answers import answer
from symgrad.apps.web.guard import Rates
from symgrad.apps.web.serving import server
from symgrad.apps.web.workers import Workers

__all__ = ["LOOPS", "Address", "Here", "ask", "request", "running"]

Address = tuple[str, int]

LOOPS: dict[Workers, asyncio.AbstractEventLoop] = {}
"""In which workers are talked to."""


class Here(Workers):
    """Answers in the process of the test: for what is asked of the server alone."""

    async def start(self) -> None:
        pass

    async def stop(self) -> None:
        pass

    async def answer(self, question: Mapping[str, Any], address: str = "") -> AsyncGenerator[bytes]:
        for found in answer(question):
            yield json.dumps(found).encode() + b"\n"


@contextlib.contextmanager
def running(workers: Workers, names: tuple[str, ...] = (), rates: Rates | None = None) -> Generator[Address]:
    """Serve the page while the body runs."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        made = server(workers, "127.0.0.1", names, rates=rates or Rates(burst=10**6))

        async def serve() -> None:
            LOOPS[workers] = asyncio.get_running_loop()
            await made.serve([listening])

        thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
        thread.start()
        try:
            end = time.monotonic() + 60
            while not made.started and thread.is_alive() and time.monotonic() < end:
                time.sleep(0.02)
            assert made.started
            yield listening.getsockname()
        finally:
            made.should_exit = True
            thread.join(20)
            assert not thread.is_alive()


def request(
    address: Address,
    method: str,
    path: str,
    body: bytes | str | None = None,
    headers: Mapping[str, str] | None = None,
) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of a response."""
    connection = http.client.HTTPConnection(*address, timeout=120)
    try:
        connection.putrequest(method, path, skip_host=headers is not None and "Host" in headers)
        data = body.encode() if isinstance(body, str) else body
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        if data is not None and "Transfer-Encoding" not in (headers or {}):
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        found = connection.getresponse()
        return found.status, {k.lower(): v for k, v in found.getheaders()}, found.read()
    finally:
        connection.close()


def ask(address: Address, **question: Any) -> dict[str, dict[str, Any]]:
    """Return the parts of an answer, by name."""
    status, _, body = request(
        address, "POST", "/answer", json.dumps(question), {"Content-Type": "application/json"}
    )
    assert status == 200, body
    parts = [json.loads(line) for line in body.splitlines()]
    return {part["part"]: part for part in parts}
