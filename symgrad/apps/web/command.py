"""The command `symgrad serve`, which opens the page in the browser."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Sequence
from importlib.util import find_spec

import click

from symgrad.support.errors import UsageError

# What is imported in functions here is for start-up time, and may be missing.

_EXAMPLES = """
\b
symgrad serve
symgrad serve --port 0 --no-browser
symgrad serve --host 0.0.0.0 --name symgrad.example.org --proxy 10.0.0.1
"""


@click.command(epilog=_EXAMPLES)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address at which to listen.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8421, show_default=True, help="0 takes one that is free."
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="A name by which the page may be asked for, beside localhost. Repeatable.",
)
@click.option(
    "--jobs", type=click.IntRange(1, 256), help="Questions at once; by default one a processor, at least two."
)
@click.option(
    "--proxy", "proxies", multiple=True, metavar="ADDRESS", help="A proxy whose word is taken for who asks."
)
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page.")
def serve(
    host: str, port: int, names: Sequence[str], jobs: int | None, proxies: Sequence[str], browser: bool
) -> None:
    """Open a page on which one types a formula and sees everything about it.

    It listens on this machine alone, unless --host says otherwise. Nothing that is typed is run or written anywhere.
    Ctrl-C ends it.
    """
    for needed in ("starlette", "uvicorn"):
        if not _is_there(needed):
            raise UsageError(
                f"the page needs {needed}, which is not installed", cure="pip install 'symgrad[web]'"
            )
    with _listening(host, port) as listening:
        # Print the address before the slow imports; the socket queues early requests.
        found = listening.getsockname()
        shown = f"[{found[0]}]" if ":" in found[0] else found[0]
        address = f"http://{shown}:{found[1]}/"
        click.echo(f"{address}  (Ctrl-C ends it)")
        _serve(listening, host, names, jobs, proxies, address if browser else None)


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ImportError:
        return False


def _listening(host: str, port: int) -> socket.socket:
    """Return a listening socket.

    Raises:
        UsageError: if the address is not available.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"cannot listen at {host}, port {port}: {error}",
            cure="name another port: --port 0 takes a free one",
        ) from None


def _serve(
    listening: socket.socket,
    host: str,
    names: Sequence[str],
    jobs: int | None,
    proxies: Sequence[str],
    opened: str | None,
) -> None:
    from symgrad.apps.web.serving import is_loopback, run

    if not is_loopback(host):
        click.echo(
            f"symgrad: {host} may be reached from other machines; docs/web.md says what to do then", err=True
        )

    def ready() -> None:
        if opened is not None:
            webbrowser.open(opened)

    run(listening, host, names, jobs=jobs, proxies=",".join(proxies), ready=ready)
