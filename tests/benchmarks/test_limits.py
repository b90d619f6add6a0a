"""Tables of limits are read from their files as they are, and half of a limit is never none."""

from __future__ import annotations

from importlib import import_module

import pytest

from benchmarks.limits import PACKAGES, limits_of


@pytest.mark.parametrize("package", PACKAGES)
def test_every_limit_of_a_table_is_read(package: str) -> None:
    table = import_module(f"{package}.limits")
    read = {m.name: m for m in limits_of(package)}
    assert set(read) == {n for n, v in vars(table).items() if n[0] != "_" and isinstance(v, int | float)}
    for name, limit in read.items():
        assert limit.value == getattr(table, name)
        assert limit.bounds
        assert 0 < limit.times(0.5) <= limit.value < limit.times(2)
        assert type(limit.times(0.5)) is type(limit.value)
