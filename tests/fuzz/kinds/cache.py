"""Directories of kept code that something happened to: what is found is what was saved, or nothing is found."""

from __future__ import annotations

import os
import random
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from unittest import mock

from symgrad.compiler.llvm.engine import disk_cache as store
from tests.fuzz.kind import kind

POSIX = sys.platform != "win32"
ROOT = POSIX and os.geteuid() == 0
NOBODY = 65534
HEAD = b"symgrad-code-v2\n"


class _Case:
    """A warm directory, files of the user's own beside and in it, and what happens to it."""

    def __init__(self, rng: random.Random, room: Path) -> None:
        self.rng = rng
        self.named = room / "named"
        self.place = self.named / "symgrad-code-v2"
        self.saved = {
            b"%d" % k: rng.randbytes(rng.choice([0, 1, 40, 700, 3000])) for k in range(rng.randint(2, 6))
        }
        for key, data in self.saved.items():
            store.save(key, data)
        self.touched: set[Path] = set()
        self.all_touched = False  # something happened to the key or a directory
        self.mine: dict[Path, tuple[object, ...]] = {}
        self._write_mine(room)

    def path(self, key: bytes) -> Path:
        return self.place / f"{blake2b(key, digest_size=32).hexdigest()}.code"

    def _write_mine(self, room: Path) -> None:
        rng = self.rng
        names = [room / "target", self.named / "mine.txt", self.place / "mine.code", self.place / "mine.new"]
        stem = rng.randbytes(32).hex()
        names += [self.place / f"{stem}.code", self.place / f"{stem[:32]}.new", self.place / stem]
        for path in names:
            right_name = path.name in {f"{stem}.code", f"{stem[:32]}.new"}
            path.write_bytes(
                rng.choice([b"x" * 200, HEAD[:-1] + b"?"] + ([] if right_name else [HEAD + b"x"]))
            )
            then = time.time() - rng.choice([0, 10**6, 10**9])
            os.utime(path, (then, then))
            self.mine[path] = self._state(path)

    @staticmethod
    def _state(path: Path) -> tuple[object, ...]:
        found = path.lstat()
        return found.st_ino, found.st_mode, found.st_uid, found.st_mtime_ns, path.read_bytes()

    def check_mine(self) -> None:
        for path, state in self.mine.items():
            assert self._state(path) == state, path

    def harm(self) -> None:
        rng = self.rng
        if rng.random() < 0.8:
            path = self.path(rng.choice(list(self.saved)))
        else:
            path = self.place / "key"
            self.all_touched = True
        self.touched.add(path)
        harms: list[Callable[[Path], object]] = [
            self._flip,
            self._cut,
            self._append,
            self._swap,
            self._rename,
            lambda path: path.unlink(),
            self._remake(lambda path: path.mkdir()),
            lambda path: path.write_bytes(rng.randbytes(rng.randint(0, 100))),
            self._age,
        ]
        if POSIX:
            harms += [
                self._remake(os.mkfifo),
                self._remake(lambda path: path.symlink_to(rng.choice([*self.mine, self._other(), path]))),
                self._remake(lambda path: path.hardlink_to(rng.choice([*self.mine, self._other()]))),
                lambda path: os.truncate(path, rng.choice([60 * 10**9, 9 * 2**20])),
                lambda path: path.chmod(rng.randrange(0o10000)),
                self._directory,
            ]
        if ROOT:
            harms.append(lambda path: os.chown(path, rng.choice([0, NOBODY]), rng.choice([0, NOBODY])))
        with suppress(OSError):  # it may be another thing by now
            found = path.lstat()
            if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
                rng.choice(harms)(path)
            elif not stat.S_ISDIR(found.st_mode):
                path.unlink()  # what is written to it may be written to a file of the user's

    def _other(self) -> Path:
        path = self.path(self.rng.choice(list(self.saved)))
        self.touched.add(path)  # it gets a second name, or is written through one
        return path

    @staticmethod
    def _remake(make: Callable[[Path], object]) -> Callable[[Path], None]:
        def harm(path: Path) -> None:
            path.unlink()
            make(path)

        return harm

    def _content(self, path: Path) -> bytes:
        return path.read_bytes() if path.stat().st_size < 10**6 else b""  # it may be 60 GB of nothing

    def _flip(self, path: Path) -> None:
        content = bytearray(self._content(path))
        if content:
            content[self.rng.randrange(len(content))] ^= 1 << self.rng.randrange(8)
            path.write_bytes(content)

    def _cut(self, path: Path) -> None:
        content = self._content(path)
        path.write_bytes(content[: self.rng.randint(0, len(content))])

    def _append(self, path: Path) -> None:
        content = self._content(path)
        path.write_bytes(content + self.rng.choice([b"\0", b"x" * 50, content]))

    def _swap(self, path: Path) -> None:
        other = self._other()
        aside = self.place / "aside"
        path.rename(aside)
        other.rename(path)
        aside.rename(other)

    def _rename(self, path: Path) -> None:
        path.rename(self.place / self.rng.choice(["aside", "key", self._other().name]))
        self.all_touched = True

    def _age(self, path: Path) -> None:
        then = time.time() + self.rng.choice([-1, 1]) * self.rng.choice([10.0, 1e5, 1e8])
        os.utime(path, (then, then), follow_symlinks=not POSIX)

    def _directory(self, _: Path) -> None:
        self.all_touched = True
        where = self.rng.choice([self.place, self.named])
        what = self.rng.random()
        if what < 0.5:
            where.chmod(self.rng.choice([0o777, 0o1777, 0o770, 0o707, 0o500, 0o000, 0o755]))
        elif what < 0.7 and ROOT:
            os.chown(where, NOBODY, NOBODY)
        elif what < 0.9:
            self.place.rename(self.named / "moved")
            make = [lambda p: p.symlink_to("moved"), lambda p: p.write_text("mine"), os.mkfifo]
            self.rng.choice(make)(self.place)

    def repair(self) -> None:
        """Undo what happened to directories."""
        if ROOT:
            os.chown(self.named, os.geteuid(), os.getegid())
        self.named.chmod(0o700)
        if (self.named / "moved").exists():
            if self.place.is_symlink() or not self.place.is_dir():
                self.place.unlink()
            else:
                shutil.rmtree(self.place)
            (self.named / "moved").rename(self.place)
        if ROOT:
            os.chown(self.place, os.geteuid(), os.getegid())
        self.place.chmod(0o700)


@kind("hostile-files-in-the-cache")
def hostile_files(rng: random.Random) -> None:
    room = Path(tempfile.mkdtemp(prefix="symgrad-"))
    variables = {
        store.ENVIRONMENT_VARIABLE: str(room / "named"),
        "XDG_CACHE_HOME": str(room / "home"),
        "HOME": str(room),
    }
    if not POSIX:
        variables["LOCALAPPDATA"] = str(room)
    small = rng.random() < 0.3
    try:
        with (
            mock.patch.dict(os.environ, variables),
            mock.patch.object(store, "_secrets", {}),
            mock.patch.object(store, "MAX_TOTAL_BYTES", 5000 if small else 10**6),
        ):
            _check(_Case(rng, room), small=small)
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _check(case: _Case, *, small: bool) -> None:
    rng = case.rng
    right = {key: {data, None} for key, data in case.saved.items()}
    for _ in range(rng.randint(1, 5)):
        case.harm()
        if rng.random() < 0.5:
            store._secrets.clear()  # as a process that has loaded nothing
        key = rng.choice(list(case.saved))
        assert store.load(key) in right[key]
        if rng.random() < 0.3:  # where nothing can be written, what was saved before is found
            key = rng.choice(list(case.saved))
            case.touched.add(case.path(key))
            case.saved[key] = rng.randbytes(rng.randrange(500))
            right[key].add(case.saved[key])
            store.save(key, case.saved[key])
            assert store.load(key) in right[key]
    store._secrets.clear()
    for key, data in case.saved.items():
        found = store.load(key)
        assert found in right[key]
        if not small and not case.all_touched and case.path(key) not in case.touched:
            assert found == data, "nothing happened to this one"
    case.repair()
    case.check_mine()
    no_key = (case.place / "key").is_dir()
    for key, data in case.saved.items():
        store.save(key, data)
        in_the_way = no_key or case.path(key).is_dir()  # what is not ours is not removed
        assert store.load(key) in (right[key] if in_the_way else {data})
    case.check_mine()
    if small and not no_key:
        assert sum(case.path(key).stat().st_size for key in case.saved if case.path(key).is_file()) <= 5000
