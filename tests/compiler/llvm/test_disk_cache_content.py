"""Code on disk: what is found is what was saved, whatever the files and the key have become."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from symgrad.compiler.llvm.engine import disk_cache, folder_posix
from tests.compiler.llvm.disk_caches import NOBODY, OWN, anew, as_root, code, flip, remade, sparse

if sys.platform == "win32":
    pytest.skip("Windows has no owners and modes of this kind", allow_module_level=True)

# -- what is read is what was written ---------------------------------------------------------------------------------

HEAD, DIGEST = 16, 32
BEYOND = HEAD + DIGEST


@pytest.mark.parametrize(
    "harm",
    [
        *(lambda path, at=at: flip(path, at) for at in (0, HEAD - 1, HEAD, BEYOND - 1, BEYOND, -1)),
        *(lambda path, n=n: os.truncate(path, n) for n in (0, 1, HEAD, BEYOND - 1, BEYOND, BEYOND + 3)),
        lambda path: path.write_bytes(path.read_bytes() + b"x"),
        lambda path: path.write_bytes(code(path.parent, b"other").read_bytes()),
        lambda path: shutil.copy2(path.parent / "key", path),
        sparse,
        lambda path: sparse(path, 8 * 2**20),
        lambda path: path.chmod(0o620),
        lambda path: path.chmod(0o602),
        lambda path: path.chmod(0o666),
        remade(lambda path: path.mkdir()),
        remade(os.mkfifo),
        remade(lambda path: path.symlink_to(code(path.parent, b"other"))),
        remade(lambda path: path.symlink_to(path)),
        remade(lambda path: path.symlink_to("/dev/zero")),
        remade(lambda path: path.hardlink_to(code(path.parent, b"other"))),
        lambda path: (path.rename(path.parent / "moved"), path.symlink_to("moved")),
        lambda path: path.with_name("second").hardlink_to(path),
    ],
)
def test_what_is_damaged_or_of_another_kind_is_not_read_and_saved_again(
    place: Path, harm: Callable[[Path], object]
) -> None:
    disk_cache.save(b"other", b"other data")
    path = code(place)
    harm(path)
    assert anew() is None
    assert anew(b"other") in (b"other data", None)  # it may have two names now
    disk_cache.save(b"key", b"data")
    if path.is_dir():
        assert anew() is None  # what is not ours is not removed
    else:
        assert anew() == b"data"
    disk_cache.save(b"other", b"other data")
    assert anew(b"other") == b"other data"


@as_root
@pytest.mark.parametrize("which", ["code", "key", "directory"])
def test_what_is_of_another_user_is_not_read(place: Path, which: str) -> None:
    path = {"code": code(place), "key": place / "key", "directory": place}[which]
    os.chown(path, NOBODY, -1)
    assert anew() is None
    disk_cache.save(b"key", b"data")
    assert anew() == (None if which == "directory" else b"data")


def test_what_is_of_another_user_is_not_read_whoever_we_are(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_posix, "_user", lambda: os.geteuid() + 1)
    assert anew() is None
    content = code(place).read_bytes()
    disk_cache.save(b"key", b"more data")
    assert code(place).read_bytes() == content


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o770, 0o777, 0o1777])
def test_a_directory_that_others_may_write_to_is_not_used(place: Path, mode: int) -> None:
    place.chmod(mode)
    assert anew() is None
    disk_cache.save(b"other", b"data")
    place.chmod(0o700)
    assert anew(b"other") is None
    assert anew() == b"data"


@pytest.mark.parametrize("kind", ["link", "file", "pipe", "loop"])
def test_what_is_no_directory_is_not_used(place: Path, kind: str) -> None:
    place.rename(place.with_name("moved"))
    if kind == "link":
        place.symlink_to("moved")
    elif kind == "loop":
        place.symlink_to(place)
    elif kind == "file":
        place.write_text("mine")
    else:
        os.mkfifo(place)
    before = {path.name: path.read_bytes() for path in place.with_name("moved").iterdir()}
    assert anew() is None
    disk_cache.save(b"key", b"other")
    assert anew() is None
    assert {path.name: path.read_bytes() for path in place.with_name("moved").iterdir()} == before
    if kind == "file":
        assert place.read_text() == "mine"


def test_readers_find_the_whole_or_nothing(place: Path) -> None:
    contents = [bytes([k]) * 100_000 for k in range(4)]

    def churn(k: int) -> bool:
        disk_cache.save(b"key", contents[k % 4])
        return disk_cache.load(b"key") in contents

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(churn, range(200)))
    assert len(list(place.iterdir())) == 2


# -- the key ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "harm",
    [
        lambda key: key.unlink(),
        lambda key: flip(key, -1),
        lambda key: flip(key, 0),
        lambda key: os.truncate(key, 0),
        lambda key: os.truncate(key, 47),
        lambda key: key.write_bytes(key.read_bytes() + b"x"),
        lambda key: key.chmod(0o640),
        lambda key: key.chmod(0o604),
        sparse,
        remade(os.mkfifo),
        remade(lambda key: key.symlink_to("../mine")),
        remade(lambda key: key.symlink_to("missing")),
    ],
    ids=[
        *("removed", "flipped", "head", "empty", "cut", "longer", "group", "world", "sparse", "pipe"),
        *("link", "dangling"),
    ],
)
def test_without_its_key_nothing_is_read_and_there_is_a_new_one(
    place: Path, harm: Callable[[Path], object]
) -> None:
    mine = place.parent / "mine"
    mine.write_bytes((place / "key").read_bytes())
    mine.chmod(0o600)
    harm(place / "key")
    assert anew() is None
    disk_cache.save(b"key", b"data")
    assert anew() == b"data"
    assert (place / "key").is_file()
    assert not (place / "key").is_symlink()
    assert stat.S_IMODE((place / "key").stat().st_mode) == 0o600
    assert mine.exists()


def test_a_directory_for_a_key(place: Path) -> None:
    (place / "key").unlink()
    (place / "key").mkdir()
    disk_cache.save(b"other", b"data")
    assert anew() is anew(b"other") is None
    assert {path.name for path in place.iterdir()} == {"key", code(place).name}


def test_a_file_of_another_key_is_not_read(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, str(tmp_path / "second"))
    disk_cache.save(b"key", b"forged")
    shutil.copy2(code(tmp_path / "second" / OWN), code(place))
    monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, str(place.parent))
    assert anew() is None


def test_the_key_is_of_whoever_is_first(named: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.urandom

    def later(size: int) -> bytes:  # between the look for a key and the making of one
        monkeypatch.setattr(os, "urandom", real)
        program = (
            "from symgrad.compiler.llvm.engine import disk_cache; disk_cache.save(b'other', b'other data')"
        )
        subprocess.run([sys.executable, "-c", program], check=True)
        return real(size)

    monkeypatch.setattr(os, "urandom", later)
    disk_cache.save(b"key", b"data")
    assert anew() == b"data"
    assert anew(b"other") == b"other data"


def test_the_key_has_two_names_while_it_is_made(place: Path) -> None:
    (place / f"{'0' * 32}.new").hardlink_to(place / "key")
    assert anew() == b"data"


def test_processes_that_start_together_have_one_key(named: Path) -> None:
    begin = time.time() + 1.5
    text = f"""
import time
from symgrad.compiler.llvm.engine import disk_cache
time.sleep({begin} - time.time())
for k in range(20):
    disk_cache.save(b"%d" % k, b"data")
"""
    running = [subprocess.Popen([sys.executable, "-c", text]) for _ in range(4)]
    assert [process.wait(60) for process in running] == [0] * 4
    assert [anew(b"%d" % k) for k in range(20)] == [b"data"] * 20
    assert len(list((named / OWN).iterdir())) == 21


def test_a_key_that_another_process_made_anew_is_found(place: Path) -> None:
    (place / "key").unlink()
    program = "from symgrad.compiler.llvm.engine import disk_cache; disk_cache.save(b'key', b'newer')"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert disk_cache.load(b"key") == b"newer"  # though the old key is known


def test_where_there_are_no_hard_links(named: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    disk_cache.save(b"key", b"data")
    assert anew() == b"data"
    assert len(list((named / OWN).iterdir())) == 2
