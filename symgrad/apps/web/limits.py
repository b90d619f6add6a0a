"""Limits of the page for questions and answers; it may be open to untrusted users."""

from __future__ import annotations

PROGRAM_CHARACTERS = 20_000
"""Characters of a typed program, about a hundred pages."""

CLAIM_CHARACTERS = 4_000
"""Characters of a claim."""

NAME_CHARACTERS = 400
"""Characters of the differentiated name, and of the list of variables."""

TARGETS = 12
"""Variables of differentiation."""

TEXT_CHARACTERS = 20_000
"""Characters of one text of an answer; a longer one is truncated with a note."""

HTML_CHARACTERS = 300_000
"""Characters of typeset formulas and steps; a browser renders them in a second."""

CODE_LINES = 600
"""Lines of printed assembly."""

PLOT_POINTS = 201
"""Points of a curve."""

PART_SECONDS = 8.0
"""Seconds of the process for a part of an answer."""

STEP_SECONDS = 2.0
"""Seconds of the search for a proof of one step of a derivation."""

VERDICT_SECONDS = 5.0
"""Seconds of the search for a proof; the process has `PART_SECONDS`."""

TOTAL_SECONDS = 20.0
"""Seconds of all parts of an answer, with restarted processes."""

SECONDS_TO_START = 60.0
"""Seconds in which a process must be ready."""

MEMORY = 1024
"""MiB that a process may allocate after its start, if the operating system can limit them."""

ANSWER_BYTES = 1_000_000
"""Bytes of one part of an answer."""

BODY_BYTES = 65_536
"""Bytes of the body of a request."""

BODY_SECONDS = 10.0
"""Seconds in which the body must arrive."""

READ_SECONDS = 15.0
"""Seconds in which the client must read a part of the answer, once the buffers of the connection are full."""

HEADER_SECONDS = 10.0
"""Seconds in which the head of a request must arrive."""

IDLE_SECONDS = 5
"""Seconds after which an idle connection is closed."""

CONNECTIONS = 500
"""Concurrent connections; beyond, the answer is 503."""

CONNECTIONS_EACH = 40
"""Concurrent connections of one address; beyond, a connection is closed."""

WAITING = 64
"""Questions that wait for a process; beyond, the answer is 503."""

JOBS_EACH = 6
"""Concurrent questions of one address; beyond, the answer is 429."""

BURST = 60
"""Requests of one address in a burst."""

PER_SECOND = 10.0
"""Requests of one address per second after a burst."""

ADDRESSES = 4_096
"""Addresses with a rate limit in memory."""

JOBS_PER_PROCESS = 50
"""Questions that one process answers on systems without the zygote."""

VALUE_CHARACTERS = 78
"""Characters of the number of a derivative that contains stop_gradient."""
