"""The gallery: for each example a page with its output, its source, and the picture that it draws.

`docs/gallery.md` lists the examples. A program is run as it is, in an empty folder; of a derivation, the version with a
planted error is reviewed.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tools.manual.contents import ROOT, links

__all__ = ["GALLERY", "example_page", "examples", "executed", "page_of"]

GALLERY = ROOT / "docs" / "gallery.md"

_FRAMEWORKS = {"dask", "jax", "keras", "numba", "tensorflow", "torch"}
"""Words in the name of an example that needs the package of that name."""

_TIMEOUT = 600  # seconds for one example; each needs only a few
_COLUMNS = "100"


def examples() -> list[Path]:
    """Return the programs and derivations that the gallery links to, in its order."""
    found = links(GALLERY.read_text(encoding="utf-8"), GALLERY.parent)
    return [path for path in found if path.is_relative_to(ROOT / "examples")]


def page_of(path: Path) -> Path:
    """Return where the page of an example is: beside the example, among the sources of the manual."""
    return path.relative_to(ROOT).with_suffix(".md")


def example_page(path: Path, pictures: Path, *, run: bool) -> str:
    """Return the page of an example, in MyST.

    Args:
        path: the program or derivation.
        pictures: a folder beside the page, for the pictures that the example draws.
        run: whether to run the example; otherwise the page has no output.
    """
    if path.suffix == ".ipynb":
        return _notebook(path, pictures, run)
    return _program(path, pictures, run) if path.suffix == ".py" else _derivation(path, run)


def _program(path: Path, pictures: Path, run: bool) -> str:
    source = path.read_text(encoding="utf-8")
    lines = [f"# {_title(path)}\n", _plain(ast.get_docstring(ast.parse(source)) or ""), ""]
    missing = [w for w in path.stem.split("_") if w in _FRAMEWORKS and find_spec(w) is None]
    if missing:
        lines.append(f"Not run for this page, which was made without {' and '.join(missing)}.\n")
    elif run:
        with tempfile.TemporaryDirectory() as folder:
            said = _run([sys.executable, str(path)], Path(folder), expected=(0,))
            lines += ["## What it prints\n", _fenced("text", said)]
            for drawn in sorted(Path(folder).glob("*.svg")):
                pictures.mkdir(parents=True, exist_ok=True)
                (pictures / drawn.name).write_bytes(drawn.read_bytes())
                lines.append(f"![What it draws]({pictures.name}/{drawn.name})\n")
    body = source[source.index('"""', 3) + 3 :].strip("\n")
    lines += ["## The program\n", f"`{path.relative_to(ROOT).as_posix()}`\n", _fenced("python", body)]
    return "\n".join(lines)


def _notebook(path: Path, pictures: Path, run: bool) -> str:
    """Return the cells of a notebook with their output: pictures, and the text of everything else."""
    book: Any = json.loads(path.read_text(encoding="utf-8"))
    missing = [name for name in ("nbclient", "ipykernel") if find_spec(name) is None]
    if run and not missing:
        book = executed(path)
    parts: list[str] = []
    for number, cell in enumerate(book["cells"], 1):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source + "\n")
            continue
        parts.append(_fenced("symgrad" if source.startswith("%%symgrad") else "python", source))
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/svg+xml" in data:
                pictures.mkdir(parents=True, exist_ok=True)
                drawn = pictures / f"cell{number}.svg"
                drawn.write_text("".join(data["image/svg+xml"]), encoding="utf-8", newline="\n")
                parts.append(f"![What the cell shows]({pictures.name}/{drawn.name})\n")
            else:
                parts.append(_fenced("text", "".join(data.get("text/plain", output.get("text", "")))))
    said = f"A notebook, `{path.relative_to(ROOT).as_posix()}`, to be run in JupyterLab or VS Code."
    if run and missing:
        said += f" Not run for this page, which was made without {' and '.join(missing)}."
    first, *others = parts
    return "\n".join([first, said + "\n", *others])


def executed(path: Path) -> Any:
    """Return a notebook after all of its cells were run, in an empty folder."""
    import nbformat  # an extra, which is not installed everywhere
    from nbclient import NotebookClient

    book: Any = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(book, timeout=_TIMEOUT, resources={"metadata": {"path": folder}})
        client.execute(env=_environment())
    return book


def _title(path: Path) -> str:
    """Return the title of a program in the gallery."""
    before = GALLERY.read_text(encoding="utf-8").partition(f"]({_from_gallery(path)})")[0]
    return before.rpartition("[")[2]


def _from_gallery(path: Path) -> str:
    return Path(os.path.relpath(path, GALLERY.parent)).as_posix()


def _plain(text: str) -> str:
    """Return the text of a docstring as Markdown: formulas outside code are escaped."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*_<\[])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def _derivation(path: Path, run: bool) -> str:
    text = path.read_text(encoding="utf-8")
    if not run:
        return text
    wrong = path.with_stem(f"{path.stem}_wrong")
    name = wrong.name
    said = _run([sys.executable, "-m", "symgrad", "review", name], path.parent, expected=(5,))
    return "\n".join(
        [
            text,
            "## The same page with an error in it\n",
            f"`symgrad review {name}`, in `{path.parent.relative_to(ROOT).as_posix()}/`:\n",
            _fenced("text", said),
        ]
    )


def _run(command: list[str], folder: Path, expected: tuple[int, ...]) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=_TIMEOUT,
        check=False,
    )
    if done.returncode not in expected:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def _environment() -> dict[str, str]:
    return os.environ | {
        "COLUMNS": _COLUMNS,
        "NO_COLOR": "1",
        "MPLBACKEND": "agg",  # this needs no window
        "PYTHONIOENCODING": "utf-8",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }


def _fenced(language: str, text: str) -> str:
    return f"````{language}\n{text.rstrip()}\n````\n"
