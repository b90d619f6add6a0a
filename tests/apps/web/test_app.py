"""The page over HTTP, asked as an attacker asks."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncGenerator
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from symgrad.apps.web import app
from symgrad.apps.web.answers import PARTS
from symgrad.apps.web.app import FILES
from symgrad.apps.web.guard import HEADERS, Guard, Rates
from symgrad.apps.web.limits import BODY_BYTES, BURST, CONNECTIONS_EACH
from symgrad.apps.web.serving import is_loopback
from symgrad.apps.web.workers import Workers
from tests.apps.web.serving import Address, Here, ask, request, running
from tests.waiting import until

JSON = {"Content-Type": "application/json"}
POST = "POST /answer HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(1)>"


def raw(address: Address, data: bytes, seconds: float = 10) -> bytes:
    """Send bytes, and return all that comes back until the server closes or nothing more comes."""
    with socket.create_connection(address, timeout=seconds) as line:
        with contextlib.suppress(OSError):
            line.sendall(data)
        found = b""
        with contextlib.suppress(OSError):
            while more := line.recv(65536):
                found += more
        return found


# What the page is


@pytest.mark.parametrize("path", FILES)
def test_the_page_is_there_with_every_header(bare: Address, path: str) -> None:
    status, headers, body = request(bare, "GET", path)
    assert status == 200
    assert headers["content-type"].partition(";")[0] == FILES[path][1].partition(";")[0]
    assert body
    assert all(headers[name.lower()] == value for name, value in HEADERS.items())
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


def test_the_policy_allows_no_script_but_the_packages_own(bare: Address) -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    page = request(bare, "GET", "/")[2].decode()
    assert "style=" not in page
    assert page.count("<script") == 1
    assert " onclick" not in page
    for path in FILES:  # and nothing is fetched from elsewhere
        text = request(bare, "GET", path)[2].decode()
        assert "http" not in text.replace("http://www.w3.org/2000/svg", ""), path


def test_every_part_is_answered(page: Address) -> None:
    program = "x : real\nu ~ Uniform(0.9, 1.1)\ny = x**2\nz = sqrt(stop_gradient(y*u - y) + y)"
    found = ask(page, program=program, wrt="x", claim="2*x", parts=list(PARTS))
    assert list(found) == list(PARTS)
    assert not [part for part in found.values() if "error" in part]
    assert found["claim"]["blocks"][0]["status"] == "refuted"


def test_a_formula_that_does_not_end_gets_a_message_and_the_next_is_answered(
    page: Address, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = "x : real\ny = " + "*".join(f"(x**{k} + sin({k}*x)*exp(x/{k}))" for k in range(1, 300))
    with monkeypatch.context() as patched:
        patched.setattr(workers, "_part_seconds", 0.2)
        found = ask(page, program=program, parts=["latex"])
    assert "longer than" in found["latex"]["error"]["message"]
    assert ask(page, program="x**2")["gradient"]["blocks"][1]["text"] == "d/dx f = 2*x"


# Who may ask


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("localhost:99", 200),
        ("127.0.0.1", 200),
        ("[::1]:8421", 200),
        ("symgrad.example.org", 200),
        ("SYMGRAD.example.org.:443", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("192.0.2.7", 421),
        ("[::1", 421),
        ("[::1]x", 421),
        ("", 421),
        ("localhost@evil.example", 421),
    ],
)
def test_a_name_that_is_not_ours_is_refused(bare: Address, host: str, status: int) -> None:
    assert request(bare, "GET", "/", headers={"Host": host})[0] == status


def test_two_names_are_none(bare: Address) -> None:
    found = raw(bare, b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")
    assert found.startswith((b"HTTP/1.1 421", b"HTTP/1.1 400"))


def test_pages_elsewhere_may_not_ask(bare: Address) -> None:
    body = json.dumps({"program": "x"})
    host = f"{bare[0]}:{bare[1]}"
    for headers, status in (
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin", "Host": host}, 200),
    ):
        found, told, _ = request(bare, "POST", "/answer", body, {**JSON, **headers})
        assert found == status, headers
        assert not any(name.startswith("access-control") for name in told)
    # A question that needs no leave of a browser's is none.
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        assert request(bare, "POST", "/answer", body, {"Content-Type": kind})[0] == 415
    assert request(bare, "OPTIONS", "/answer", headers={"Origin": "http://evil.example"})[0] in (403, 405)


# What is asked


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD", "TRACE", "CONNECT", "BREW"])
def test_a_wrong_method_is_refused(bare: Address, method: str) -> None:
    assert request(bare, method, "/answer")[0] in (400, 404, 405)
    if method not in ("GET", "HEAD"):
        assert request(bare, method, "/")[0] in (400, 404, 405)


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd",
        "/..%2f..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/static/../../answers.py",
        "/app.js/../answers.py",
        "/answers.py",
        "/static/app.js",
        "//etc/passwd",
        "/app.js%00.css",
        "/C:\\Windows\\win.ini",
        "/.git/config",
        "/" + "a" * 5000,
    ],
)
def test_a_path_is_never_one_of_a_file(bare: Address, path: str) -> None:
    found = raw(bare, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    assert found.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400"))
    assert b"root:" not in found


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "null",
        "[]",
        "1e999",
        '"x"',
        '{"program": 1}',
        '{"program": ["x"]}',
        '{"program": "x", "parts": "gradient"}',
        '{"program": "x", "parts": {"gradient": 1}}',
        '{"program": "x", "parts": ["__class__"]}',
        '{"program": "x", "__proto__": {}}',
        '{"program": "x"} {"program": "x"}',
        "[" * 60_000,
        '{"a":' * 12_000,
        "9" * 60_000,
        b"\xff\xfe{}",
        b'{"program": "\xc3"}',
    ],
    ids=lambda b: repr(b)[:20],
)
def test_what_is_no_question_is_refused(bare: Address, body: str | bytes) -> None:
    status, headers, said = request(bare, "POST", "/answer", body, JSON)
    assert status == 400
    assert headers["content-type"].startswith("text/plain")
    assert len(said) < 500


def test_a_million_characters_are_refused_before_they_are_read(bare: Address) -> None:
    body = json.dumps({"program": "x" * 1_000_000})
    head = f"{POST}Content-Length: {len(body)}\r\n\r\n"
    assert raw(bare, head.encode() + body.encode()[: BODY_BYTES + 70_000]).startswith(b"HTTP/1.1 413")
    chunked = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    head = f"{POST}Transfer-Encoding: chunked\r\n\r\n"
    assert raw(bare, head.encode() + 3 * chunked).startswith(b"HTTP/1.1 413")
    assert request(bare, "POST", "/answer", json.dumps({"program": "x" * 30_000}), JSON)[0] == 400
    huge = b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200_000 + b"\r\n\r\n"
    assert raw(bare, huge)[:12] in (b"HTTP/1.1 400", b"")


@pytest.mark.parametrize("field", ["program", "of", "wrt", "claim", "range", "language"])
def test_markup_in_what_is_typed_comes_back_as_text(bare: Address, field: str) -> None:
    question = {
        "program": "x : real\ny = x**2",
        "claim": "2*x",
        field: SCRIPT,
        "parts": [p for p in PARTS if p != "assembly"],
    }
    for part in ask(bare, **question).values():
        for block in part.get("blocks", ()):
            assert "<script" not in block.get("html", "")
            assert "<img" not in block.get("html", "")


def test_a_comment_with_markup_is_no_markup(bare: Address) -> None:
    program = f"x : real  # {SCRIPT}\ny = x**2 # {SCRIPT}"
    found = ask(bare, program=program, parts=["gradient", "derivation", "graph", "noise"])
    assert "<script" not in json.dumps(found)


# Who dawdles, and who comes in numbers


def test_who_dawdles_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symgrad.apps.web.serving.HEADER_SECONDS", 0.4)
    monkeypatch.setattr("symgrad.apps.web.app.BODY_SECONDS", 0.4)
    with running(Here()) as address:
        assert raw(address, b"") == b""
        assert raw(address, b"GET / HTTP/1.1\r\nHost: local") == b""
        with socket.create_connection(address, timeout=10) as line:  # a letter at a time
            with contextlib.suppress(OSError):
                for letter in b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X" * 60:
                    line.sendall(bytes([letter]))
                    time.sleep(0.03)
            with contextlib.suppress(OSError):
                assert line.recv(100) == b""
        head = f"{POST}Content-Length: 50\r\n\r\n".encode()
        assert raw(address, head + b'{"prog').startswith(b"HTTP/1.1 408")
        # The same of what follows a request on its connection.
        with socket.create_connection(address, timeout=10) as line:
            line.sendall(b"GET /app.js HTTP/1.1\r\nHost: localhost\r\n\r\n")
            found = line.recv(65536)
            line.sendall(b"GET / HT")
            with contextlib.suppress(OSError):
                while more := line.recv(65536):
                    found += more
            assert found.startswith(b"HTTP/1.1 200")
        assert request(address, "GET", "/")[0] == 200


class _Talking(Here):
    """Answers at great length."""

    stopped = False

    async def answer(self, question: Any, address: str = "") -> AsyncGenerator[bytes]:
        try:
            for _ in range(40):
                yield b'"' + b"x" * 500_000 + b'"\n'
                await asyncio.sleep(0.01)
        finally:
            self.stopped = True


def test_who_does_not_read_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symgrad.apps.web.app.READ_SECONDS", 0.5)
    late: list[BaseException] = []

    async def sent(send: Any, message: Any) -> None:
        try:
            await own(send, message)
        except BaseException as error:
            late.append(error)
            raise

    own = app._sent
    monkeypatch.setattr(app, "_sent", sent)
    body = json.dumps({"program": "x"}).encode()
    workers = _Talking()
    with running(workers) as address, socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(address)
        line.sendall(f"{POST}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        until(lambda: workers.stopped)  # a process never waits for who reads
        until(lambda: late)
        line.settimeout(60)
        found = 0
        with contextlib.suppress(OSError):
            while more := line.recv(1 << 20):
                found += len(more)
        assert found < 40 * 500_000
        assert request(address, "GET", "/")[0] == 200


def test_one_address_has_so_many_connections(bare: Address) -> None:
    lines = [socket.create_connection(bare, timeout=5) for _ in range(CONNECTIONS_EACH + 5)]
    try:
        closed = 0
        for line in lines[CONNECTIONS_EACH:]:
            line.settimeout(60)
            try:
                closed += line.recv(1) == b""
            except ConnectionError:
                closed += 1
        assert closed == 5
    finally:
        for line in lines:
            line.close()

    def recovered() -> bool:
        with contextlib.suppress(OSError):
            return request(bare, "GET", "/")[0] == 200
        return False

    until(recovered)


class _Endless(Here):
    """Never answers."""

    begun = stopped = 0

    async def answer(self, question: Any, address: str = "") -> AsyncGenerator[bytes]:
        self.begun += 1
        try:
            await asyncio.Event().wait()
            yield b""
        finally:
            self.stopped += 1


def test_who_goes_away_is_not_worked_for() -> None:
    body = json.dumps({"program": "x"}).encode()
    workers = _Endless()
    with running(workers) as address:
        for k in range(4):
            with socket.create_connection(address, timeout=60) as line:
                line.sendall(f"{POST}Content-Length: {len(body)}\r\n\r\n".encode() + body)
                until(lambda k=k: workers.begun == k + 1)
            until(lambda k=k: workers.stopped == k + 1)


def test_requests_are_counted_by_address() -> None:
    with running(Here(), rates=Rates(burst=3, per_second=0.1)) as address:
        found = [request(address, "GET", "/style.css") for _ in range(5)]
        assert [status for status, _, _ in found] == [200, 200, 200, 429, 429]
        assert int(found[-1][1]["retry-after"]) >= 1
        assert found[-1][1]["content-security-policy"]
    assert 2 * len(FILES) < BURST  # a page that is opened asks for all of them


def test_addresses_that_are_remembered_have_an_end() -> None:
    now = [0.0]
    rates = Rates(burst=1, per_second=1, clock=lambda: now[0])
    for k in range(10_000):
        assert rates.wait(f"address {k}") == 0
    assert len(rates._buckets) <= 4_096


def test_a_socket_of_another_kind_is_closed() -> None:
    """No WebSocket is spoken, and none of another protocol reaches the application."""
    called: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        called.append(scope["type"])

    asyncio.run(Guard(app)({"type": "websocket", "headers": []}, None, None))  # type: ignore[arg-type]
    assert called == []


def test_an_upgrade_is_not_followed(bare: Address) -> None:
    found = raw(
        bare,
        b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\n\r\n",
    )
    assert not found.startswith(b"HTTP/1.1 101")


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\0" * 1000,
        b"GET / HTTP/9.9\r\n\r\n",
        b"\r\n" * 500 + b"x y z\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused(bare: Address, data: bytes) -> None:
    assert raw(bare, data)[:10] in (b"", b"HTTP/1.1 4", b"HTTP/1.1 5")
    assert request(bare, "GET", "/")[0] == 200


def test_loopback() -> None:
    assert [is_loopback(h) for h in ("127.0.0.1", "::1", "localhost", "127.9.9.9")] == [True] * 4
    assert [is_loopback(h) for h in ("0.0.0.0", "::", "192.0.2.1", "example.org", "")] == [False] * 5
