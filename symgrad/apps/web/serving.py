"""The server: uvicorn with a timeout for slow connections."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Callable, Collection
from ipaddress import ip_address
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from symgrad.apps.web.app import application
from symgrad.apps.web.guard import Rates, client_key
from symgrad.apps.web.limits import CONNECTIONS, CONNECTIONS_EACH, HEADER_SECONDS, IDLE_SECONDS
from symgrad.apps.web.workers import Workers


def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches an address.

    Example:
        >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
        (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _timeout_protocol(most: int) -> type[H11Protocol]:
    """Return an HTTP protocol that closes slow connections, and those of an address beyond its limit."""
    open_now: Counter[str] = Counter()

    class Impatient(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._waits: asyncio.TimerHandle | None = None
            self._from = client_key(str((transport.get_extra_info("peername") or ("",))[0]))
            open_now[self._from] += 1
            if open_now[self._from] > most:
                transport.abort()
                return
            self._expect()

        def connection_lost(self, exc: Exception | None) -> None:
            if self._waits is not None:
                self._waits.cancel()
            open_now[self._from] -= 1
            if not open_now[self._from]:
                del open_now[self._from]
            super().connection_lost(exc)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._expect()

        def _expect(self) -> None:
            """Close the connection unless a complete request head arrives in time."""
            if self._waits is not None:
                self._waits.cancel()
            before = cast("RequestResponseCycle | None", self.cycle)  # none before the first request
            if before is not None and not before.response_complete:
                return  # pipelined before the answer to the previous request

            def late() -> None:
                if self.cycle is before and not self.transport.is_closing():
                    self.transport.abort()

            self._waits = self.loop.call_later(HEADER_SECONDS, late)

    return Impatient


def server(
    workers: Workers,
    host: str,
    names: Collection[str] = (),
    *,
    proxies: str = "",
    rates: Rates | None = None,
) -> uvicorn.Server:
    """Return a server of the page, not yet started.

    Args:
        workers: the pool of processes.
        host: the address at which it listens.
        names: the host names of the page, in addition to localhost.
        proxies: the addresses of trusted proxies, separated by commas.
        rates: the rate limit of clients.
    """
    app = application(workers, names, any_address=not is_loopback(host), rates=rates)
    config = uvicorn.Config(
        app,
        # Behind a proxy all connections have one address.
        http=_timeout_protocol(CONNECTIONS if proxies else CONNECTIONS_EACH),
        ws="none",
        lifespan="on",
        loop="asyncio",
        interface="asgi3",
        proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies or None,
        server_header=False,
        access_log=False,
        log_level="warning",
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=16_384,
    )
    return uvicorn.Server(config)


def run(
    listening: socket.socket,
    host: str,
    names: Collection[str] = (),
    *,
    jobs: int | None = None,
    proxies: str = "",
    ready: Callable[[], None],
) -> None:
    """Serve the page until it is interrupted.

    Args:
        listening: the socket at which to listen.
        host: the address of the socket.
        names: the host names of the page, in addition to localhost.
        jobs: the number of concurrent questions.
        proxies: the addresses of trusted proxies, separated by commas.
        ready: called when the page is available.
    """
    made = server(Workers(jobs), host, names, proxies=proxies)

    async def serve() -> None:
        serving = asyncio.create_task(made.serve([listening]))
        while not made.started and not serving.done():
            await asyncio.sleep(0.05)
        if made.started:
            ready()
        await serving

    asyncio.run(serve())
