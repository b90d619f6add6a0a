"""The directory of Windows, on any system: what differs there (attributes, lists, no hard links) is pretended."""

from __future__ import annotations

import os
import shutil
import sys
import types
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from symgrad.compiler.llvm.engine import disk_cache, folder_windows

OWN = "symgrad-code-v2"
REPARSE_POINT = 0x400


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """%LOCALAPPDATA%, where only this user may write."""
    local = tmp_path / "AppData" / "Local"
    local.mkdir(parents=True)
    monkeypatch.setattr(disk_cache, "_secrets", {})
    monkeypatch.setattr(disk_cache, "Folder", folder_windows.Folder)
    monkeypatch.setattr(disk_cache, "_default_directory", lambda: local / "symgrad" / OWN)
    monkeypatch.setenv("LOCALAPPDATA", str(local))
    monkeypatch.delenv(disk_cache.ENVIRONMENT_VARIABLE)
    return local


def code(place: Path, key: bytes = b"key") -> Path:
    return place / f"{blake2b(key, digest_size=32).hexdigest()}.code"


def anew(key: bytes = b"key") -> bytes | None:
    disk_cache._secrets.clear()
    return disk_cache.load(key)


def test_in_the_profile_all_is_in_one_place(profile: Path) -> None:
    disk_cache.save(b"key", b"data")
    assert anew() == b"data"
    place = profile / "symgrad" / OWN
    assert {path.name for path in place.iterdir()} == {"key", code(place).name}
    disk_cache.save(b"key", b"more data")
    assert anew() == b"more data"
    (place / "key").unlink()
    assert anew() is None
    disk_cache.save(b"key", b"data")
    assert anew() == b"data"


def test_elsewhere_the_key_is_in_the_profile(
    profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody asks who may write there; without the key, what others write is not read."""
    monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, str(tmp_path / "named"))
    disk_cache.save(b"key", b"data")
    assert anew() == b"data"
    assert [path.name for path in (tmp_path / "named" / OWN).iterdir()] == [code(tmp_path).name]
    assert [path.name for path in (profile / "symgrad" / OWN).iterdir()] == ["key"]
    # a whole directory of ours, with its key, that somebody else filled
    monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, str(profile / "unpacked"))
    disk_cache.save(b"key", b"forged")
    assert anew() == b"forged"
    shutil.rmtree(tmp_path / "named")
    (profile / "unpacked").rename(tmp_path / "named")
    monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, str(tmp_path / "named"))
    assert anew() is None
    # nor is that below the profile which the text of a path only begins with
    monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, str(profile / ".." / ".." / "named"))
    assert anew() is None


@pytest.mark.parametrize("local", [None, "", "relative"])
def test_without_a_profile_there_is_no_key(
    profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, local: str | None
) -> None:
    if local is None:
        monkeypatch.delenv("LOCALAPPDATA")
    else:
        monkeypatch.setenv("LOCALAPPDATA", local)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(disk_cache, "_default_directory", lambda: None)
    for named in ("named", "relative/named"):
        monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, str(tmp_path / named))
        disk_cache.save(b"key", b"data")
        assert anew() is None
    assert not list(tmp_path.rglob("*.code"))


@pytest.mark.parametrize("which", ["code", "key", "directory"])
def test_what_leads_elsewhere_is_not_used(profile: Path, which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    disk_cache.save(b"key", b"data")
    place = profile / "symgrad" / OWN
    path = {"code": code(place), "key": place / "key", "directory": place}[which]
    real = Path.lstat

    def lstat(self: Path) -> Any:
        found = real(self)
        fields = {name: getattr(found, name) for name in dir(found) if name.startswith("st_")}
        attributes = REPARSE_POINT if self == path else 0
        return types.SimpleNamespace(**fields, st_file_attributes=attributes)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "lstat", lstat)
        assert anew() is None
    assert anew() == b"data"
    if sys.platform == "win32":
        return  # to make links takes rights there
    path.rename(path.with_name("moved"))
    path.symlink_to("moved", target_is_directory=which == "directory")
    assert anew() is None


def test_what_is_exchanged_before_it_is_opened_is_not_read(
    profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk_cache.save(b"key", b"data")
    place = profile / "symgrad" / OWN
    shutil.copy2(code(place), place / "other")
    real = os.open

    def exchanged(path: Any, *args: Any) -> int:
        if Path(path) == code(place):
            (place / "other").replace(path)
        return real(path, *args)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", exchanged)
        assert anew() is None
    assert anew() == b"data"


def test_what_is_open_elsewhere_can_neither_be_replaced_nor_removed(
    profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk_cache.save(b"key", b"data")
    place = profile / "symgrad" / OWN
    size = code(place).stat().st_size
    monkeypatch.setattr(disk_cache, "MAX_TOTAL_BYTES", 2 * size)
    os.utime(code(place), (1, 1))
    held = {code(place), place / "key"}

    def guard(name: str) -> Any:
        real = getattr(Path, name)

        def call(self: Path, *args: Any, **more: Any) -> Any:
            if held & {self, *args}:
                raise PermissionError(13, "it is used by another process")
            return real(self, *args, **more)

        return call

    for name in ("replace", "unlink", "rename"):
        monkeypatch.setattr(Path, name, guard(name))
    disk_cache.save(b"key", b"more")
    assert anew() == b"data"
    os.utime(code(place), (1, 1))
    for k in range(4):
        disk_cache.save(b"%d" % k, b"data")
    assert anew() == b"data"
    assert not list(place.glob("*.new"))
    assert len(list(place.glob("*.code"))) <= 3


def test_room_is_made_and_use_is_noted(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk_cache.save(b"0", b"data")
    place = profile / "symgrad" / OWN
    monkeypatch.setattr(disk_cache, "MAX_TOTAL_BYTES", 4 * code(place, b"0").stat().st_size)
    for k in range(4):
        disk_cache.save(b"%d" % k, b"data")
        os.utime(code(place, b"%d" % k), (k, k))
    assert disk_cache.load(b"1") == b"data"
    disk_cache.save(b"4", b"data")
    assert [code(place, b"%d" % k).exists() for k in range(5)] == [False, True, False, True, True]
