"""Print the purpose of each module of the package: `python tools/module_index.py [FOLDER ...]`, or `make modules`.

There is a line for each module, with the first sentence of its docstring, below the line of its package.
`docs/architecture.md` has only what a newcomer needs, written by hand; this list cannot become out of date.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["listing", "main", "modules", "purpose"]

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "symgrad"


def purpose(path: Path) -> str:
    """Return the first paragraph of the docstring of a file, in one line."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())


def modules(folder: Path) -> Iterator[Path]:
    """Yield the modules of a folder, then those of the folders inside it; a package comes before its modules."""
    files = sorted(folder.glob("*.py"), key=lambda path: (path.name != "__init__.py", path.name))
    yield from files
    for inner in sorted(path for path in folder.iterdir() if (path / "__init__.py").exists()):
        yield from modules(inner)


def listing(folders: Sequence[Path]) -> str:
    """Return the lines for the modules of some folders."""
    lines: list[str] = []
    for path in (path for folder in folders for path in modules(folder)):
        name = path.relative_to(ROOT).as_posix()
        if path.name == "__init__.py":
            lines += ["", f"{path.parent.relative_to(ROOT).as_posix()}/: {purpose(path)}"]
        else:
            lines.append(f"  {name.rpartition('/')[2]}: {purpose(path)}")
    return "\n".join(lines).lstrip() + "\n"


def main() -> None:
    """Print the lines for the folders at the command line, or for the whole package."""
    print(listing([Path(name).resolve() for name in sys.argv[1:]] or [PACKAGE]), end="")


if __name__ == "__main__":
    main()
