"""The first cases of every kind; `make fuzz` runs more."""

from __future__ import annotations

import faulthandler

import pytest

from tests.fuzz.kind import Kind, kinds

CASES = 180
GROUPS = 3  # of one test each, so that they spread over processes

KINDS = kinds()


@pytest.mark.parametrize("group", range(GROUPS))
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_cases(kind: Kind, group: int) -> None:
    for seed in range(group, CASES, GROUPS):
        # What hangs here hangs in C or in a loop that no other limit ends: say where, and end the process.
        faulthandler.dump_traceback_later(20 * kind.seconds, exit=True)
        try:
            kind.run(seed)
        except BaseException as error:
            error.add_note(f"python -m tests.fuzz --only {kind.name} --first {seed} --cases 1")
            raise
        finally:
            faulthandler.cancel_dump_traceback_later()
