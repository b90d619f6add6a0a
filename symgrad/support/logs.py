"""Logs of decisions and their reasons through Python's `logging`, with one logger ``symgrad.<room>`` per package.

Level ``info`` has a line for each decision of interest to users; level ``debug`` has the passes with their times and
counts. Lines contain names and counts, but never values of a user's data.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logging import Logger

VARIABLE = "SYMGRAD_LOG"
"""The environment variable that sends lines to standard error: ``info`` or ``debug``."""

_loggers: dict[str, Logger] = {}


def info(room: str, text: str, *values: object) -> None:
    """Log a decision and its reason.

    Args:
        room: the package.
        text: one line, with ``%s`` for values.
        values: names and counts.

    Example:
        >>> info("rules", "%d equations in canonical form", 7)  # nobody listens
    """
    logger = _logger(room)
    if logger is not None:
        logger.info(text, *values)


def debug(room: str, text: str, *values: object) -> None:
    """Log a pass; the arguments are those of `info`."""
    logger = _logger(room)
    if logger is not None:
        logger.debug(text, *values)


def debugging(room: str) -> bool:
    """Tell whether the passes of a package are logged."""
    logger = _logger(room)
    return logger is not None and logger.isEnabledFor(10)


def _logger(room: str) -> Logger | None:
    found = _loggers.get(room)
    if found is not None:
        return found
    # If nothing has imported `logging`, no handler is set up, and importing it here would slow down every start.
    logging = sys.modules.get("logging")
    if logging is None or not hasattr(logging, "getLogger"):  # another thread may be importing it
        return None
    if not _loggers:
        logging.getLogger("symgrad").addHandler(logging.NullHandler())
    found = _loggers[room] = logging.getLogger(f"symgrad.{room}")
    return found


def to_stderr(level: str) -> None:
    """Send lines to standard error from now on.

    Args:
        level: ``info`` or ``debug``; any other value logs a warning.
    """
    import logging  # for start-up time

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    ours = logging.getLogger("symgrad")
    ours.addHandler(handler)
    known = {"info": logging.INFO, "debug": logging.DEBUG}
    if level.strip().lower() in known:
        ours.setLevel(known[level.strip().lower()])
    else:
        ours.warning("%s is %r, which means nothing; it is info or debug", VARIABLE, level)
