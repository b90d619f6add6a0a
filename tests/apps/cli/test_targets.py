"""What `--wrt` takes: names, and entries of arrays."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from symgrad.apps.cli.main import main

PROGRAM = "x : real[n]\nscale : real\ny = sum(x)*scale\nz = 2*x\n"


def told(tmp_path: Path, *args: str) -> str:
    path = tmp_path / "p.sg"
    path.write_text(PROGRAM, encoding="utf-8")
    command, *others = args
    return CliRunner().invoke(main, [command, str(path), *others]).output


def test_entries(tmp_path: Path) -> None:
    assert (
        told(tmp_path, "derive", "--of", "y", "--wrt", "x[2],scale")
        == "dy/d(x[2]) = scale\ndy/dscale = sum(x)\n"
    )
    values = told(tmp_path, "run", "--of", "y", "--wrt", "x[2],x[0]", "x=1,2,4", "scale=3")
    assert values == "y = 21.0\ndy_dx[2] = 3.0\ndy_dx[0] = 3.0\n"


@pytest.mark.parametrize(
    ("args", "cure"),
    [
        (("derive", "--of", "y", "--wrt", "v"), "one of its inputs, such as 'x'"),
        (("derive", "--of", "y", "--wrt", "scal"), "did you mean 'scale'?"),
        (("derive", "--of", "y", "--wrt", "q[2]"), "one of its inputs, such as 'x'"),
        (("derive", "--of", "y", "--wrt", "scale[2]"), "declare an array"),
        (("explain", "--of", "y", "--wrt", "x[2]"), "differentiate with respect to 'x'"),
        (("explain", "--of", "z"), "sum(y), or one of its entries, y[0]"),
    ],
)
def test_refusals_speak_of_the_program(tmp_path: Path, args: tuple[str, ...], cure: str) -> None:
    assert cure in told(tmp_path, *args)
