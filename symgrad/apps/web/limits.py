"""How much a question may be, and how much its answer may take: of a page that strangers may use."""

from __future__ import annotations

__all__ = [
    "ADDRESSES",
    "ANSWER_BYTES",
    "BODY_BYTES",
    "BODY_SECONDS",
    "BURST",
    "CLAIM_CHARACTERS",
    "CODE_LINES",
    "CONNECTIONS",
    "CONNECTIONS_EACH",
    "HEADER_SECONDS",
    "HTML_CHARACTERS",
    "IDLE_SECONDS",
    "JOBS_EACH",
    "JOBS_PER_PROCESS",
    "MEMORY",
    "NAME_CHARACTERS",
    "PART_SECONDS",
    "PER_SECOND",
    "PLOT_POINTS",
    "PROGRAM_CHARACTERS",
    "READ_SECONDS",
    "SECONDS_TO_START",
    "TARGETS",
    "VALUE_CHARACTERS",
    "TEXT_CHARACTERS",
    "TOTAL_SECONDS",
    "VERDICT_SECONDS",
    "WAITING",
]

PROGRAM_CHARACTERS = 20_000
"""Of a program that is typed: some hundred times what fits a page."""

CLAIM_CHARACTERS = 4_000
"""Of a claim."""

NAME_CHARACTERS = 400
"""Of what to differentiate, and of the list of what by."""

TARGETS = 12
"""Inputs by which derivatives are shown."""

TEXT_CHARACTERS = 20_000
"""Of one text of an answer: what is longer is cut, and says so."""

HTML_CHARACTERS = 300_000
"""Of formulas and steps that are set: a browser takes a second for as many."""

CODE_LINES = 600
"""Lines of assembly that are shown."""

PLOT_POINTS = 201
"""At which a value and its gradient are computed for a picture."""

PART_SECONDS = 8.0
"""Seconds after which the process that works on a part of an answer is ended."""

VERDICT_SECONDS = 5.0
"""What the search for a proof is told; the process has `PART_SECONDS`."""

TOTAL_SECONDS = 20.0
"""For all parts of one answer, with processes that are started anew."""

SECONDS_TO_START = 60.0
"""In which a process must be ready."""

MEMORY = 1024
"""MiB that a process may take beyond what it has when it begins, where the operating system can bound them."""

ANSWER_BYTES = 1_000_000
"""Of one part of an answer."""

BODY_BYTES = 65_536
"""Of a question, as it arrives."""

BODY_SECONDS = 10.0
"""In which it must have arrived."""

READ_SECONDS = 15.0
"""In which who asked must have taken a part of the answer, once the buffers of the connection are full."""

HEADER_SECONDS = 10.0
"""In which a connection must have said what it wants."""

IDLE_SECONDS = 5
"""After which a connection that wants nothing more is closed."""

CONNECTIONS = 500
"""At once, of all addresses; beyond, a connection is answered with 503."""

CONNECTIONS_EACH = 40
"""At once, of one address; beyond, a connection is closed."""

WAITING = 64
"""Questions that wait for a process; beyond, one is answered with 503."""

JOBS_EACH = 6
"""Questions of one address at once; beyond, one is answered with 429."""

BURST = 60
"""Requests of one address at once, ..."""

PER_SECOND = 10.0
"""... and in each second after that."""

ADDRESSES = 4_096
"""Addresses that are remembered for that."""

JOBS_PER_PROCESS = 50
"""Questions that one process answers where none can be forked for each."""

VALUE_CHARACTERS = 78
"""Of a derivative as a number, beside the derivative that can be differentiated again."""
