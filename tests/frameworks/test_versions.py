"""The table of versions says what runs the tests."""

from tests.frameworks.versions import versions


def test_numpy_is_always_there():
    assert {"numpy"} <= set(versions())
