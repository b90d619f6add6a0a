"""Two type checkers agree with each line of a user's script."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("script.py")
ROOT = SCRIPT.parent.parent.parent
WRONG = {
    k for k, line in enumerate(SCRIPT.read_text(encoding="utf-8").splitlines(), 1) if line.endswith("# error")
}


def output(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1, done.stdout + done.stderr  # errors were found, and nothing else went wrong
    return done.stdout


def pyright(folder: Path) -> set[int]:
    (folder / "script.py").write_text(SCRIPT.read_text(encoding="utf-8"), encoding="utf-8")
    rules = {"include": ["script.py"], "extraPaths": [str(ROOT)], "reportUnusedExpression": False}
    (folder / "pyrightconfig.json").write_text(json.dumps(rules), encoding="utf-8")
    place = ("--pythonpath", sys.executable, "--project", str(folder))
    found = json.loads(output(sys.executable, "-m", "pyright", *place, "--outputjson"))["generalDiagnostics"]
    return {d["range"]["start"]["line"] + 1 for d in found}


def mypy(folder: Path) -> set[int]:
    options = (
        "--config-file=",
        f"--cache-dir={folder}",
        "--follow-imports=silent",
        "--ignore-missing-imports",
    )
    found = output(sys.executable, "-m", "mypy", *options, str(SCRIPT))
    return {int(line) for line in re.findall(r"script\.py:(\d+): error", found)}


@pytest.mark.slow
@pytest.mark.parametrize("checker", [pyright, mypy])
def test_right_lines_pass_and_wrong_ones_are_errors(checker, tmp_path: Path) -> None:
    found = checker(tmp_path)
    assert found == WRONG, f"refused though right: {found - WRONG}; passed though wrong: {WRONG - found}"
