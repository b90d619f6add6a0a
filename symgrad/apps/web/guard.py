"""Middleware for every request: host check, rate limit per client, security headers.

- Refuse an unknown name in ``Host``: a foreign page whose name resolves to this server could send requests (DNS
  rebinding). A numeric address is safe, because it is not resolved.
- Refuse a foreign ``Origin``, and send no header that would let a foreign page read an answer.
- Allow browsers to run only the scripts of the package, and to embed the page nowhere.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

from symgrad.apps.web.limits import ADDRESSES, BURST, PER_SECOND

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}

HEADERS = {
    "Content-Security-Policy": "; ".join(f"{what} {where}" for what, where in _POLICY.items()),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
"""Headers of every response."""

_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


def client_key(address: str) -> str:
    """Return the client of an address for rate limits: for IPv6 its /64 network, which one household has.

    Example:
        >>> client_key("192.0.2.7"), client_key("2001:db8:1:2:3:4:5:6"), client_key("")
        ('192.0.2.7', '2001:db8:1:2::/64', '')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if found.version == 4 or found.is_loopback:
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ip_network((int(found), 64), strict=False))


class Rates:
    """Rate limits: a token bucket for each recent client.

    Example:
        >>> now = [0.0]
        >>> rates = Rates(burst=2, per_second=1, clock=lambda: now[0])
        >>> rates.wait("a"), rates.wait("a"), rates.wait("a"), rates.wait("b")
        (0.0, 0.0, 1.0, 0.0)
        >>> now[0] = 1.5
        >>> rates.wait("a")
        0.0
    """

    def __init__(
        self,
        burst: int = BURST,
        per_second: float = PER_SECOND,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._burst, self._per_second, self._clock = burst, per_second, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Count a request and return 0; or return the seconds after which it may be repeated."""
        now = self._clock()
        left, before = self._buckets.pop(address, (float(self._burst), now))
        left = min(self._burst, left + (now - before) * self._per_second)
        allowed = left >= 1
        self._buckets[address] = (left - allowed, now)
        while len(self._buckets) > ADDRESSES:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._per_second


class Guard:
    """ASGI middleware that refuses requests, and adds `HEADERS` to responses.

    Args:
        app: the application.
        names: the host names of the page, in addition to numeric addresses.
        any_address: whether any numeric address is accepted, or only loopback addresses.
        rates: the rate limit of clients.
    """

    def __init__(
        self,
        app: ASGIApp,
        names: Collection[str] = (),
        *,
        any_address: bool = False,
        rates: Rates | None = None,
    ) -> None:
        self._app = app
        self._names = {*_LOCAL, *(name.lower().rstrip(".") for name in names)}
        self._any_address = any_address
        self._rates = rates or Rates()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # the server closes a connection of another protocol

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {name.lower() for name, _ in message.get("headers", ())}
                more = [(n.lower().encode(), v.encode()) for n, v in HEADERS.items()]
                message["headers"] = [*message.get("headers", ()), *(h for h in more if h[0] not in known)]
            await send(message)

        refused = self._refusal(scope)
        if refused is None:
            await self._app(scope, receive, guarded)
            return
        status, text, headers = refused
        start = {
            "type": "http.response.start",
            "status": status,
            "headers": [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close"), *headers],
        }
        await guarded(start)
        await guarded({"type": "http.response.body", "body": text.encode() + b"\n"})

    def _refusal(self, scope: Scope) -> tuple[int, str, list[tuple[bytes, bytes]]] | None:
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1 or not self._is_ours(_name(hosts[0])):
            return 421, "this page is not asked for by that name", []
        origin = next((value for name, value in headers if name == b"origin"), None)
        if origin is not None and origin.lower() not in {
            b"http://" + hosts[0].lower(),
            b"https://" + hosts[0].lower(),
        }:
            return 403, "pages elsewhere may not ask", []
        site = next((value for name, value in headers if name == b"sec-fetch-site"), b"none")
        if scope["method"] == "POST" and site not in (b"same-origin", b"none"):
            return 403, "pages elsewhere may not ask", []
        seconds = self._rates.wait(client_key(scope["client"][0]) if scope.get("client") else "")
        if seconds > 0:
            after = str(max(1, round(seconds))).encode()
            return 429, "too many requests; wait a little", [(b"retry-after", after)]
        return None

    def _is_ours(self, name: str) -> bool:
        if name in self._names:
            return True
        try:
            address = ip_address(name)
        except ValueError:
            return False
        return self._any_address or address.is_loopback


def _name(host: bytes) -> str:
    """Return the name in a ``Host`` header, without port and brackets; empty if it is malformed."""
    text = host.decode("latin-1").lower()
    if text.startswith("["):
        name, bracket, port = text[1:].partition("]")
        return name if bracket and (not port or port.startswith(":")) else ""
    name, _, _ = text.partition(":")
    return name.rstrip(".")
