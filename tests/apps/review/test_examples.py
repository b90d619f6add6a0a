"""The derivations in examples/: the right ones are proved, and of the others the planted line is found."""

from __future__ import annotations

from pathlib import Path

import pytest

import symgrad as sg

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "derivations"
RIGHT = sorted(p for p in FOLDER.iterdir() if not p.stem.endswith("_wrong"))

# What the first diagnosis of each planted error is.
PLANTED = {
    "attention.md": "diagonal-softmax-jacobian-only",
    "batch_norm.md": "quotient-denominator-not-squared",
    "fixed_point.md": "forgot-inner-derivative",
    "gaussian_likelihood.md": "lost-minus",
    "kalman_gain.md": "missing-term",
    "logistic_regression.md": "lost-minus",
    "noise_trick.md": "stop-gradient-too-strong",
    "softmax_cross_entropy.md": "sum-instead-of-mean",
}


def wrong_of(path: Path) -> Path:
    return path.with_stem(f"{path.stem}_wrong")


def planted(path: Path) -> int:
    """The line in which a derivation and its wrong copy differ."""
    lines, others = (p.read_text(encoding="utf-8").split("\n") for p in (path, wrong_of(path)))
    assert len(lines) == len(others)
    (line,) = [k for k, (a, b) in enumerate(zip(lines, others, strict=True), 1) if a != b]
    return line


def test_there_are_eight_in_two_languages_each_with_a_wrong_copy() -> None:
    assert len(RIGHT) == 16
    assert {p.stem for p in RIGHT if p.suffix == ".md"} == {p.stem for p in RIGHT if p.suffix == ".tex"}
    assert all(wrong_of(p).exists() for p in RIGHT)


@pytest.mark.parametrize("path", RIGHT, ids=lambda p: p.name)
def test_every_step_of_a_right_derivation_is_proved(path: Path) -> None:
    found = sg.review(path.read_text(encoding="utf-8"), path.name)
    claims = [step for step in found.steps if step.kind in ("derivative", "rewriting")]
    assert len(claims) >= 5
    assert [step for step in claims if step.status != "proved"] == []
    assert found.not_understood == ()
    assert found.status == "proved"
    assert found.first_wrong is None


@pytest.mark.parametrize("path", RIGHT, ids=lambda p: p.name)
def test_the_planted_line_is_the_only_one_that_is_found_wrong(path: Path) -> None:
    found = sg.review(wrong_of(path).read_text(encoding="utf-8"), path.name)
    wrong = [step for step in found.steps if step.status == "refuted"]
    assert [step.line for step in wrong] == [planted(path)]
    assert found.first_wrong is wrong[0]
    assert found.status == "refuted"
    assert all(
        step.status == "proved"
        for step in found.steps
        if step.status != "refuted" and step.verdict is not None
    )


@pytest.mark.parametrize("name", PLANTED)
def test_the_planted_mistake_is_named(name: str) -> None:
    found = sg.review(wrong_of(FOLDER / name).read_text(encoding="utf-8"), name)
    assert found.first_wrong is not None
    assert found.first_wrong.verdict is not None
    kinds = [d.kind for d in found.first_wrong.verdict.diagnosis]
    assert kinds[0] == PLANTED[name]
    if found.first_wrong.kind == "derivative":
        assert found.first_wrong.corrected is not None
