"""The tree works anywhere: no file names the machine it was written on or the place packages come from."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Written in pieces, so that this file passes its own test.
FORBIDDEN = {
    "a package registry's host": re.compile(
        "|".join(
            re.escape(".".join(h))
            for h in [("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com")]
        )
    ),
    "a path of one machine": re.compile(r"(?<![\w./-])/(?:" + "work|root|home/\\w+|Users/\\w+" + ")/"),
}


def findings(text: str) -> list[str]:
    return [
        f"line {number}: {what}: {found[0]}"
        for number, line in enumerate(text.splitlines(), 1)
        for what, pattern in FORBIDDEN.items()
        if (found := pattern.search(line))
    ]


def tracked_files() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    return [path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_file_names_a_registry_or_a_machine() -> None:
    files = tracked_files()
    assert files
    bad: list[str] = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        bad += [f"{path.relative_to(ROOT)}, {finding}" for finding in findings(text)]
    assert not bad, "\n".join(bad)


@pytest.mark.parametrize(
    "text",
    [
        "https://" + ".".join(["files", "pythonhosted", "org"]) + "/x",
        "cd " + "/".join(["", "work", "main"]),
        "see '/" + "root/x'",
    ],
)
def test_a_forbidden_word_is_found(text: str) -> None:
    assert findings("one\n" + text)[0].startswith("line 2: ")


@pytest.mark.parametrize(
    "text", ["frame/work/loop", "the work/rest ratio", "docs/root/x", "https://example.org/work/x"]
)
def test_an_innocent_word_is_not(text: str) -> None:
    assert not findings(text)
