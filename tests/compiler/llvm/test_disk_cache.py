"""Code on disk: where it is, what goes, and disks on which anything may go wrong."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
import time
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from symgrad.compiler.llvm.engine import disk_cache
from tests.compiler.llvm.disk_caches import OWN, anew, bytes_in, code, sparse

if sys.platform == "win32":
    pytest.skip("Windows has no owners and modes of this kind", allow_module_level=True)

# -- where -------------------------------------------------------------------------------------------------------


def test_what_is_made_is_for_its_user_alone(place: Path) -> None:
    assert [path.name for path in place.parent.iterdir()] == [OWN]
    assert stat.S_IMODE(place.stat().st_mode) == stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    assert {path.name for path in place.iterdir()} == {"key", code(place).name}
    assert {stat.S_IMODE(path.stat().st_mode) for path in place.iterdir()} == {0o600}


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS keeps caches in another place")
def test_where_code_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(disk_cache.ENVIRONMENT_VARIABLE)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert disk_cache.directory() == tmp_path / ".cache" / "symgrad" / OWN
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert disk_cache.directory() == tmp_path / "elsewhere" / "symgrad" / OWN
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert disk_cache.directory() is None
    monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, "relative")
    assert disk_cache.directory() == Path.cwd() / "relative" / OWN
    monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, "~/of/mine")
    assert disk_cache.directory() == tmp_path / "of" / "mine" / OWN
    monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, "")
    assert disk_cache.directory() is None


def test_the_directory_may_be_named_anew_at_any_time(
    tmp_path: Path, named: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for data in (b"a", b"b"):
        monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, str(tmp_path / data.decode()))
        assert disk_cache.load(b"key") is None
        disk_cache.save(b"key", data)
    for data in (b"a", b"b"):
        monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, str(tmp_path / data.decode()))
        assert disk_cache.load(b"key") == data


@pytest.mark.parametrize(
    "name",
    [
        "~no-such-user-anywhere/x",
        "x" * 300,
        "a/" * 1100,
        "a/" * 30_000,
        "nul\N{SNOWMAN}",
        "\udcff",
        "file",
        "file/x",
    ],
    ids=["user", "name", "deep", "path", "unicode", "bytes", "file", "below-file"],
)
def test_a_place_that_cannot_be_used_costs_nothing_but_time(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("mine")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    where = name if name.startswith("~") else f"{tmp_path}/{name}"
    if len(where) > 100_000:  # no process starts with it, but one may set it
        monkeypatch.setattr(os, "environ", {**os.environ, disk_cache.ENVIRONMENT_VARIABLE: where})
    else:
        monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, where)
    disk_cache.save(b"key", b"data")
    assert disk_cache.load(b"key") in (b"data", None)
    assert (tmp_path / "file").read_text() == "mine"
    assert not list(Path.cwd().glob("~*"))
    subprocess.run(["rm", "-rf", tmp_path / "a"], check=True)  # deeper than Python's own way to remove it


def test_without_a_current_directory_or_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, "relative")
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    disk_cache.save(b"key", b"data")
    assert disk_cache.load(b"key") is None
    monkeypatch.delenv(disk_cache.ENVIRONMENT_VARIABLE)
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)  # a user of a container, whom nobody knows
    disk_cache.save(b"key", b"data")
    assert disk_cache.load(b"key") is None


# -- room -------------------------------------------------------------------------------------------------------------


def test_files_of_others_stay_where_they_are(named: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was found: a thousand files, and one call that removed half of them."""
    monkeypatch.setattr(disk_cache, "MAX_TOTAL_BYTES", 3000)
    place = named / OWN
    place.mkdir(parents=True, mode=0o700)
    place.chmod(0o700)
    (named / "target").write_bytes(b"symgrad-code-v2\n" + b"x" * 1000)
    for k in range(1000):
        (named / f"mine-{k}.txt").write_bytes(b"mine")
    for k in range(100):
        name = blake2b(b"%d" % k, digest_size=32).hexdigest()
        (place / f"mine-{k}.code").write_bytes(b"symgrad-code-v2\n" + b"x" * 100)  # ours but for the name
        (place / f"{name}.code").write_bytes(b"symgrad-code-v1\n" + b"x" * 100)  # ours but for the head
        (place / f"{name[:32]}.new").write_bytes(b"mine")
        (place / f"{name[:16]}.new").write_bytes(b"")
    for k in range(100, 110):
        name = blake2b(b"%d" % k, digest_size=32).hexdigest()
        (place / f"{name}.code").symlink_to(named / "target")
        (place / f"{name[:32]}.new").symlink_to(named / "target")
        (place / f"{name[:32]}").mkdir()
        os.mkfifo(place / f"{name[::-1]}.code")
        (place / f"{name[::-1][:32]}.new").mkdir()
    for path in place.iterdir():
        os.utime(path, (1, 1), follow_symlinks=False)
    before = set(named.rglob("*"))
    for k in range(20):
        disk_cache.save(b"ours %d" % k, b"x" * 500)
        assert disk_cache.load(b"ours %d" % k) == b"x" * 500
    assert before <= set(named.rglob("*"))
    ours = [code(place, b"ours %d" % k) for k in range(20)]
    assert 0 < sum(path.exists() for path in ours) <= 5


def test_the_least_recently_used_go_first(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = code(place).stat().st_size
    keys = [b"%03d" % k for k in range(8)]
    monkeypatch.setattr(disk_cache, "MAX_TOTAL_BYTES", 8 * size)
    code(place).unlink()
    now = time.time()
    for k, key in enumerate(keys):
        disk_cache.save(key, b"data")
        os.utime(code(place, key), (0, now - (9 - k) * 10 * 86400))
    assert disk_cache.load(keys[0]) == disk_cache.load(keys[2]) == b"data"  # both are used now
    os.utime(code(place, keys[7]), (0, now + 900 * 86400))  # a clock that was wrong: nobody knows when
    disk_cache.save(b"new", b"data")
    left = [key for key in (*keys, b"new") if code(place, key).exists()]
    assert left == [keys[0], keys[2], keys[4], keys[5], keys[6], b"new"]
    assert bytes_in(place) <= 8 * size


def test_that_a_file_was_used_is_noted_once_a_day(place: Path) -> None:
    path = code(place)
    for ago, noted in ((3600, False), (86400 * 0.9, False), (86400 * 1.1, True), (-86400 * 2, True)):
        then = time.time() - ago
        os.utime(path, (then, then))
        before = path.stat()
        assert disk_cache.load(b"key") == b"data"
        assert (path.stat().st_mtime_ns != before.st_mtime_ns) == noted
        if noted:
            assert abs(path.stat().st_mtime - time.time()) < 60


def test_one_that_is_too_large_is_neither_kept_nor_in_the_way(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_cache, "_MAX_FILE_BYTES", 10_000)
    monkeypatch.setattr(disk_cache, "MAX_TOTAL_BYTES", 50_000)
    disk_cache.save(b"large", b"x" * 10_000)
    assert anew(b"large") is None
    disk_cache.save(b"grown", b"data")
    sparse(code(place, b"grown"))  # with our head
    disk_cache.save(b"other", b"data")
    assert not code(place, b"grown").exists()
    assert anew() == anew(b"other") == b"data"


def test_what_a_process_left_that_was_ended(place: Path) -> None:
    stem = "0123456789abcdef" * 2
    head = b"symgrad-code-v2\n"
    names = {}
    for k, content in enumerate((b"", head[:5], head, head + b"x" * 100, b"other", head[:5] + b"?")):
        names[k] = place / f"{stem[k:]}{stem[:k]}.new"
        names[k].write_bytes(content)
        os.utime(names[k], (1, 1))
    fresh = place / f"{stem[::-1]}.new"
    fresh.write_bytes(b"")
    disk_cache.save(b"other", b"data")
    assert [path.exists() for path in names.values()] == [False] * 4 + [True] * 2
    assert fresh.exists()


WRITER = """
import sys, os, random, time
from symgrad.compiler.llvm.engine import disk_cache
disk_cache.MAX_TOTAL_BYTES = 40_000
rng = random.Random(int(sys.argv[1]))
time.sleep({begin} - time.time())
for k in range(150):
    key = b"%d" % rng.randrange(60)
    data = key * rng.randrange(400)
    disk_cache.save(key, data)
    for other in range(60):
        found = disk_cache.load(b"%d" % other)
        assert found is None or not found.strip(b"%d" % other), found
    size = sum(entry.stat().st_size for entry in os.scandir(disk_cache.directory()) if os.path.exists(entry.path))
    assert size < 40_000 + 48 + 4 * 2_000, size
"""


def test_several_processes_make_room_at_once(named: Path) -> None:
    text = WRITER.replace("{begin}", str(time.time() + 1.5)).replace("entry.stat().st_size", "size_of(entry)")
    text = (
        "def size_of(entry):\n    try:\n        return entry.stat().st_size\n"
        "    except FileNotFoundError:\n        return 0\n" + text
    )
    running = [subprocess.Popen([sys.executable, "-c", text, str(k)]) for k in range(4)]
    assert [process.wait(120) for process in running] == [0] * 4
    assert 0 < bytes_in(named / OWN) < 48_000
    assert not list((named / OWN).glob("*.new"))


# -- disks -------------------------------------------------------------------------------------------------------------

CALLS = [
    "open",
    "fstat",
    "lstat",
    "read",
    "close",
    "scandir",
    "link",
    "replace",
    "unlink",
    "utime",
    "mkdir",
]


@pytest.mark.parametrize("call", CALLS)
def test_whatever_goes_wrong_with_a_disk_is_no_error(
    call: str, named: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Any = getattr(os, call)
    numbers = [errno.ENOSPC, errno.EACCES, errno.ESTALE]
    opened = len(list(Path("/dev/fd").iterdir()))
    for turn in range(15):
        for number in numbers:
            shutil.rmtree(named, ignore_errors=True)
            left = turn // 2
            if turn % 2:  # where there is something already
                disk_cache.save(b"key", b"data")
                os.utime(code(named / OWN), (1, 1))
                stale = named / OWN / f"{'0' * 32}.new"
                stale.touch()
                os.utime(stale, (1, 1))
            disk_cache._secrets.clear()

            def fails(*args: Any, number: int = number, **more: Any) -> Any:
                nonlocal left
                left -= 1
                if left == -1:
                    if call == "close":
                        real(*args)
                    raise OSError(number, os.strerror(number))
                return real(*args, **more)

            with monkeypatch.context() as patch:
                patch.setattr(os, call, fails)
                assert disk_cache.load(b"key") in (b"data", None)
                disk_cache.save(b"key", b"data")
                assert disk_cache.load(b"key") in (b"data", None)
            disk_cache.save(b"key", b"data")
            assert anew() == b"data"
    assert len(list(Path("/dev/fd").iterdir())) == opened


FULL = """
import resource, signal
from symgrad.compiler.llvm.engine import disk_cache
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
disk_cache.save(b"small", b"data")
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
disk_cache.save(b"large", b"x" * 10_000)
print(disk_cache.load(b"small"), disk_cache.load(b"large"))
"""


def test_a_full_disk(named: Path) -> None:
    said = subprocess.run([sys.executable, "-c", FULL], capture_output=True, text=True, check=True)
    assert said.stdout == "b'data' None\n"
    assert {path.name for path in (named / OWN).iterdir()} == {"key", code(named / OWN, b"small").name}


FORK = """
import os
from symgrad.compiler.llvm.engine import disk_cache
disk_cache.save(b"key", b"data")
child = os.fork()
if not child:
    disk_cache.save(b"of the child", b"its data")
    os._exit(disk_cache.load(b"key") != b"data")
print(os.waitpid(child, 0)[1], disk_cache.load(b"of the child"))
"""


def test_a_forked_child(named: Path) -> None:
    said = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True)
    assert said.stdout == "0 b'its data'\n"
