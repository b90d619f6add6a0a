"""The routes of the page: a table of files, and questions.

Requests contain no paths: the files of the package are read when the server starts.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from symgrad.apps.web.answers import QuestionError, validate_question
from symgrad.apps.web.guard import Guard, Rates, client_key
from symgrad.apps.web.limits import BODY_BYTES, BODY_SECONDS, JOBS_EACH, READ_SECONDS
from symgrad.apps.web.workers import BusyError, Workers
from symgrad.report.writers.style import STYLE
from symgrad.support.errors import InternalError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/app.js": ("app.js", "text/javascript; charset=utf-8"),
    "/ask.js": ("ask.js", "text/javascript; charset=utf-8"),
    "/link.js": ("link.js", "text/javascript; charset=utf-8"),
    "/show.js": ("show.js", "text/javascript; charset=utf-8"),
    "/style.css": ("style.css", "text/css; charset=utf-8"),
    "/report.css": ("report.css", "text/css; charset=utf-8"),
    "/examples.json": ("examples.json", "application/json"),
}
"""From routes to files of the package and their media types."""


def application(
    workers: Workers, names: Collection[str] = (), *, any_address: bool = False, rates: Rates | None = None
) -> ASGIApp:
    """Return the page as an ASGI application.

    Args:
        workers: the pool of processes, started and stopped with the application.
        names: the host names of the page, in addition to localhost.
        any_address: whether numeric addresses other than loopback are accepted.
        rates: the rate limit of clients.
    """

    @asynccontextmanager
    async def running(app: Starlette) -> AsyncGenerator[None]:
        del app
        await workers.start()
        try:
            yield
        finally:
            await workers.stop()

    routes = [Route(path, _file(*found), methods=["GET"]) for path, found in FILES.items()]
    routes.append(Route("/answer", _Questions(workers).asked, methods=["POST"]))
    return Guard(Starlette(routes=routes, lifespan=running), names, any_address=any_address, rates=rates)


def content(name: str) -> bytes:
    """Return a file of the page; `symgrad.report` has the style of reports."""
    if name == "report.css":
        return STYLE.encode()
    return (files("symgrad.apps.web") / "static" / name).read_bytes()


def _file(name: str, kind: str) -> Any:
    found = content(name)

    async def send_file(request: Request) -> Response:
        del request
        return Response(found, media_type=kind, headers={"Cache-Control": "no-cache"})

    return send_file


class _Questions:
    """Reads questions, and sends answers part by part."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._at_once: Counter[str] = Counter()

    async def asked(self, request: Request) -> Response:
        """Answer a question, or refuse it with a reason."""
        address = client_key(request.client.host) if request.client is not None else ""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return _refused(415, "a question is application/json")
        if self._at_once[address] >= JOBS_EACH:
            return _refused(429, "this address asks too much at once", {"Retry-After": "1"})
        try:
            body = await asyncio.wait_for(_body(request), BODY_SECONDS)
            question = validate_question(json.loads(body))
        except TimeoutError:
            return _refused(408, "the question did not arrive in time")
        except QuestionError as error:
            return _refused(413 if body_too_long(error) else 400, str(error))
        except (ValueError, RecursionError):  # RecursionError: deeply nested brackets
            return _refused(400, "the question is not JSON")
        except ClientDisconnect:
            return _refused(400, "the question did not arrive")
        return _Answer(self, address, question)

    async def send(self, address: str, question: dict[str, Any], send: Send) -> None:
        """Send an answer, part by part.

        A queue buffers the parts for a slow client, so that no process waits for it.
        """
        lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._at_once[address] += 1
        finding = asyncio.create_task(self._find(address, question, lines))
        try:
            while (line := await lines.get()) is not None:
                await _sent(send, {"type": "http.response.body", "body": line, "more_body": True})
            await _sent(send, {"type": "http.response.body", "body": b""})
        finally:
            finding.cancel()
            with suppress(asyncio.CancelledError):
                await finding
            self._at_once[address] -= 1
            if not self._at_once[address]:
                del self._at_once[address]

    async def _find(self, address: str, question: dict[str, Any], lines: asyncio.Queue[bytes | None]) -> None:
        answers = self._workers.answer(question, address)
        try:
            async for line in answers:
                lines.put_nowait(line)
        except (BusyError, InternalError) as error:
            line = json.dumps({"part": question["parts"][0], "error": {"message": str(error)}})
            lines.put_nowait(line.encode() + b"\n")
        finally:
            await answers.aclose()
            lines.put_nowait(None)


async def _sent(send: Send, message: Message) -> None:
    """Send a part of a response within the time limit."""
    async with asyncio.timeout(READ_SECONDS):
        await send(message)


class _TooLongError(QuestionError):
    """A question longer than the limit."""


def body_too_long(error: QuestionError) -> bool:
    """Tell whether a question was refused for its length."""
    return isinstance(error, _TooLongError)


async def _body(request: Request) -> bytes:
    found = bytearray()
    async for chunk in request.stream():
        found += chunk
        if len(found) > BODY_BYTES:
            raise _TooLongError(f"a question is longer than {BODY_BYTES:,} bytes")
    return bytes(found)


def _refused(status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    # Close the connection instead of reading the rest of the question.
    return PlainTextResponse(text + "\n", status, headers={"Connection": "close", **(headers or {})})


class _Answer(Response):
    """A streaming response with a line of JSON for each part; a disconnect cancels the computation."""

    def __init__(self, questions: _Questions, address: str, question: dict[str, Any]) -> None:
        super().__init__(media_type="application/x-ndjson", headers={"Cache-Control": "no-store"})
        del self.headers["content-length"]
        self._questions, self._address, self._question = questions, address, question

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        sending = asyncio.create_task(self._questions.send(self._address, self._question, send))
        gone = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, gone):
                if not task.done():
                    task.cancel()
            for task in (sending, gone):
                with suppress(asyncio.CancelledError, OSError, TimeoutError):
                    await task


async def _gone(receive: Receive) -> None:
    """Return when the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
