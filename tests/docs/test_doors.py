"""What stands at the door is true: paths that are named exist, diffs apply, hooks and workflows use our versions."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from symgrad.apps.cli import main
from tests.docs.markdown import ROOT, blocks

CONTRIBUTING = ROOT / "CONTRIBUTING.md"
EXTENDING = ROOT / "docs" / "extending.md"
PAGES = [CONTRIBUTING, EXTENDING, ROOT / "docs" / "architecture.md", ROOT / "SECURITY.md"]
DIFFS = [b for b in blocks(EXTENDING.read_text(encoding="utf-8")) if b.language == "diff"]

# A source distribution has no hidden files.
CHECKOUT = (ROOT / ".github").exists()
in_a_checkout = pytest.mark.skipif(not CHECKOUT, reason="not a checkout")

_NAMED = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"[\w.-]+(/[\w.-]+)*(/|\.(py|md|toml|lock|json|lark|yml|yaml|svg|cff|in))")


def paths(line: str) -> list[Path]:
    """The paths that a line names; a bare name stands beside, or in, the path before it."""
    found: list[Path] = []
    room = ROOT
    for name in (n for n in _NAMED.findall(line) if _PATH.fullmatch(n)):
        path = room / name if "/" not in name and not (ROOT / name).exists() else ROOT / name
        found.append(path)
        if "/" in name:
            room = path if name.endswith("/") else path.parent
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_that_is_named_exists(page: Path) -> None:
    # Paragraphs and rows of tables: a bare name may stand on the line after its room.
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    parts = [part for block in re.split(r"\n\s*\n", text) for part in _parts(block)]
    named = [path for part in parts for path in paths(part)]
    assert len(named) >= 5
    missing = [path.relative_to(ROOT).as_posix() for path in named if not path.exists()]
    assert [name for name in missing if CHECKOUT or not name.startswith(".")] == []


def _parts(block: str) -> list[str]:
    return block.splitlines() if block.startswith("|") else [block]


def test_every_file_that_a_docstring_names_exists() -> None:
    """By the end of its path: `sums.py` stands beside, `ir/notation/contractions.py` is of another room."""
    ends = [p.as_posix() for p in (*ROOT.glob("*"), *ROOT.rglob("*/*.*"))]
    missing: list[str] = []
    for file in sorted((ROOT / "symgrad").rglob("*.py")):
        for name in re.findall(r"`([\w./]+\.(?:py|md|json|lark))`", file.read_text(encoding="utf-8")):
            beside = (file.parent / name).exists()
            if not beside and not any(end.endswith(f"/{name}") for end in ends):
                missing.append(f"{file.relative_to(ROOT).as_posix()}: {name}")
    assert missing == []


def test_a_bare_name_stands_beside_the_path_before_it() -> None:
    here = "`symgrad/rewrite/rules/canonical.py` and `piecewise.py`; `nowhere.py`; `make x`"
    assert [p.exists() for p in paths(here)] == [True, True, False]
    assert [p.exists() for p in paths("`symgrad/pretty/` has `chain_rule.py`, and so `canonical.py`")] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("k", range(len(DIFFS)))
def test_the_diffs_apply(k: int) -> None:
    git = shutil.which("git")
    if git is None:
        pytest.skip("there is no git")
    # Outside of a checkout, too: `git apply` then reads the tree as it lies.
    done = subprocess.run(
        [git, "apply", "--check", "-"],
        input=DIFFS[k].text.encode(),
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, f"docs/extending.md, line {DIFFS[k].line}: {done.stderr.decode()}"


def test_each_kind_of_extension_has_its_diff() -> None:
    sections = EXTENDING.read_text(encoding="utf-8").split("\n## ")[1:]
    assert ["```diff" in section for section in sections] == [True] * 7


@in_a_checkout
def test_hooks_have_the_versions_of_the_lock_file() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pinned = re.findall(r'"(ruff==[^"]+)"', hooks)
    assert len(pinned) == 2
    assert set(pinned) <= set(lock)


@in_a_checkout
def test_the_workflow_runs_each_python_that_is_published_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [c.rpartition(" ")[2] for c in project["classifiers"] if re.search(r":: 3\.\d+$", c)]
    workflow = (ROOT / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8")
    (line,) = re.findall(r"python: \[(.*)\]", workflow)
    assert re.findall(r'"([\d.]+)"', line) == named


@in_a_checkout
def test_actions_are_pinned_by_commit() -> None:
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    used = [line for w in workflows for line in re.findall(r"uses: (.*)", w.read_text(encoding="utf-8"))]
    assert used
    assert [u for u in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", u)] == []


@in_a_checkout
@pytest.mark.parametrize(
    "name",
    [
        ".pre-commit-config.yaml",
        ".github/workflows/check.yml",
        ".github/workflows/nightly.yml",
        "CONTRIBUTING.md",
    ],
)
def test_targets_that_are_named_exist(name: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    text = (ROOT / name).read_text(encoding="utf-8")
    commands = re.findall(r"(?:run: |entry: |`|^)make ((?:[a-z-]+ ?)+)", text, re.MULTILINE)
    called = {word for command in commands for word in command.split()}
    assert called
    assert called <= targets


def test_the_page_of_commands_has_each_with_an_example() -> None:
    """A table, and a section for each with a line that is run; two are shown alone: one does not end, one is long."""
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| \[`([\w-]+)`\]\(#\1\) \|", page, re.MULTILINE)) == set(main.commands)
    assert set(re.findall(r"^## ([a-z-]+)$", page, re.MULTILINE)) == set(main.commands)
    run = {b.text.split()[2] for b in blocks(page) if b.language == "sh"}
    assert run == set(main.commands) - {"serve", "demo"}


def test_the_page_about_the_browser_has_each_field() -> None:
    """By what the page calls it and what a question calls it."""
    text = (ROOT / "docs" / "web.md").read_text(encoding="utf-8").split("\n## The fields\n")[1]
    rows = re.findall(r"^\| ([^|(]+?)(?: \([^|]*)? \| `(\w+)` \|", text, re.MULTILINE)
    page = (ROOT / "symgrad" / "apps" / "web" / "static" / "index.html").read_text(encoding="utf-8")
    labels = re.findall(r'<label for="(\w+)">([^<]+?) ?<', page)
    assert {(field, label) for label, field in rows} == set(labels) - {("example", "Example")}


def test_the_citation_is_of_this_version() -> None:
    import symgrad

    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [symgrad.__version__]
