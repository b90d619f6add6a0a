"""Code on disk: other users who have a say in what the path leads to."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import threading
import time
from hashlib import blake2b
from pathlib import Path

import pytest

from symgrad.compiler.llvm.engine import disk_cache, folder_posix
from tests.compiler.llvm.disk_caches import NOBODY, OWN, anew, code

if sys.platform == "win32":
    pytest.skip("Windows has no owners and modes of this kind", allow_module_level=True)


def test_below_a_directory_of_others_the_key_is_elsewhere(place: Path, tmp_path: Path) -> None:
    place.parent.chmod(0o777)
    assert anew() is None  # the key that is there may be theirs
    disk_cache.save(b"key", b"more data")
    assert anew() == b"more data"
    home = tmp_path / "home"
    (key,) = home.rglob("key")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    for path in (key, *key.parents):
        assert not path.stat().st_mode & 0o022 or path.stat().st_mode & stat.S_ISVTX
        if path == home:
            break
    home.chmod(0o777)  # and if that is no place of the user's alone either, there is none
    assert anew() is None
    disk_cache.save(b"key", b"other data")
    assert anew() is None
    home.chmod(0o700)
    assert anew() == b"more data"


def forged(where: Path, data: bytes) -> None:
    """Make what a person may have unpacked: a whole directory of ours, with its key, that somebody else filled."""
    old = os.environ[disk_cache.ENVIRONMENT_VARIABLE]
    os.environ[disk_cache.ENVIRONMENT_VARIABLE] = str(where)
    disk_cache._secrets.clear()
    disk_cache.save(b"key", data)
    assert disk_cache.load(b"key") == data
    os.environ[disk_cache.ENVIRONMENT_VARIABLE] = old
    disk_cache._secrets.clear()


@pytest.mark.parametrize("of_others", ["directory", "above", "link", "link-above"])
def test_what_others_put_in_the_way_is_not_read(
    of_others: str, named: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forged(tmp_path / "unpacked", b"forged")
    if of_others == "directory":  # in which anybody may exchange what is named
        theirs = tmp_path / "theirs"
        theirs.mkdir()
        theirs.chmod(0o777)
        (tmp_path / "unpacked").rename(theirs / "named")
        leads = theirs / "named"
    elif of_others == "above":
        theirs = tmp_path / "theirs"
        (theirs / "deep").mkdir(parents=True)
        theirs.chmod(0o777)
        (tmp_path / "unpacked").rename(theirs / "deep" / "named")
        leads = theirs / "deep" / "named"
    else:
        if os.geteuid() != 0:
            pytest.skip("only root makes links of other users")
        public = tmp_path / "public"
        public.mkdir()
        public.chmod(0o1777)
        link = public / "link"
        link.symlink_to("../unpacked" if of_others == "link" else "..")
        os.chown(link, NOBODY, -1, follow_symlinks=False)
        leads = link if of_others == "link" else link / "unpacked"
    monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, str(leads))
    assert anew() is None
    disk_cache.save(b"key", b"data")
    assert anew() == b"data"
    monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, str(tmp_path / "unpacked"))
    assert anew() != b"forged"


def test_whose_path_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def sure(path: Path | str) -> bool:
        return folder_posix._is_trusted_path(Path(path))

    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    assert sure(deep)
    assert sure(tmp_path / "a" / ".." / "a" / "b")
    (tmp_path / "to").symlink_to(deep)
    (tmp_path / "relative").symlink_to("a/../relative-too")
    (tmp_path / "relative-too").symlink_to("to/../b-too/../b")
    (tmp_path / "a" / "b" / "b-too").mkdir()
    assert sure(tmp_path / "to" / ".." / "c")
    with pytest.raises(FileNotFoundError):  # there is no a/b/b
        sure(tmp_path / "relative")
    (tmp_path / "a" / "b" / "b").mkdir()
    assert sure(tmp_path / "relative")
    (tmp_path / "loop").symlink_to("loop")
    assert not sure(tmp_path / "loop")
    parent = tmp_path / "a"
    for mode, expected in ((0o777, False), (0o1777, True), (0o770, False), (0o1770, True), (0o755, True)):
        parent.chmod(mode)
        monkeypatch.setattr(folder_posix, "_group", lambda: os.geteuid() + 1)
        assert sure(deep) == sure(tmp_path / "to") == sure(tmp_path / "relative") == expected
    # a group of the user's own number is the user alone
    parent.chmod(0o775)
    if os.getegid() == os.geteuid() == parent.stat().st_gid:
        monkeypatch.setattr(folder_posix, "_group", os.getegid)
        assert sure(deep)
    parent.chmod(0o755)
    if os.geteuid() == 0:
        os.chown(parent, NOBODY, -1)
        assert not sure(deep)
        assert not sure(tmp_path / "to")
        os.chown(parent, 0, -1)
        os.chown(tmp_path / "to", NOBODY, -1, follow_symlinks=False)
        assert sure(deep)
        assert not sure(tmp_path / "to")


@pytest.mark.parametrize("swapped", ["directory", "link"])
def test_a_path_that_somebody_exchanges_all_the_time(
    swapped: str, named: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found: between a check and a read by path, another directory, whose files are run."""
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o777)
    theirs.chmod(0o777)
    path = theirs / "named"
    monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, str(path))
    disk_cache.save(b"key", b"data")
    assert anew() == b"data"
    forged(tmp_path / "unpacked", b"forged")
    (tmp_path / "unpacked").rename(theirs / "unpacked")
    (theirs / "writable" / OWN).mkdir(parents=True)  # a file that an older check would have passed
    plain = blake2b(blake2b(b"key").digest() + b"forged", digest_size=32).digest() + b"forged"
    for name in (code(theirs).name, "key"):
        (theirs / "writable" / OWN / name).write_bytes(plain)
        (theirs / "writable" / OWN / name).chmod(0o666)
    if os.geteuid() == 0:
        shutil.copytree(theirs / "unpacked", theirs / "foreign")
        for folder in (theirs / "foreign" / OWN, theirs / "writable" / OWN):
            for file in (folder, *folder.iterdir()):
                os.chown(file, NOBODY, NOBODY)
    path.rename(theirs / "good")
    others = sorted(p for p in theirs.iterdir() if p.name not in {"named", "good"})
    done = threading.Event()

    def exchange() -> None:
        k = 0
        while not done.is_set():
            target = (others[k // 2 % len(others)], theirs / "good")[k % 2]
            if swapped == "link":
                (theirs / "next").symlink_to(target)
                (theirs / "next").replace(path)
            else:
                target.rename(path)
                path.rename(target)
            k += 1

    if swapped == "link":
        path.symlink_to("good")
    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        found: list[bytes | None] = []
        end = time.monotonic() + 2
        while time.monotonic() < end:
            disk_cache._secrets.clear()
            found.append(disk_cache.load(b"key"))
            found.append(disk_cache.load(b"key"))
    finally:
        done.set()
        thread.join()
        sys.setswitchinterval(old)
    assert set(found) == {b"data", None}
    assert len(found) > 100
