"""Write the page of `symgrad serve` as files that need no server: `python tools/web_site.py [FOLDER]`.

Answers are then found in the browser: Python in WebAssembly (Pyodide) in a web worker. Pyodide is not downloaded by
this script; its files go into FOLDER/pyodide. Everything except native code works, because browsers have no llvmlite.
This is an experiment; docs/web.md tells how far it was tried.
"""

from __future__ import annotations

import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # import this tree, even if another version is installed

from symgrad.report.writers.style import STYLE  # noqa: E402

STATIC = ROOT / "symgrad" / "apps" / "web" / "static"
OWN = Path(__file__).resolve().parent / "web_site"

PURE = ("opt_einsum", "mpmath", "sympy")
"""The pure Python packages that symgrad needs, in the versions with which it is tested: Pyodide has none, or others."""
LEFT_OUT = {"__pycache__", "tests"}

POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'"
)
"""This replaces the headers of a server; WebAssembly counts as a script."""


def build(folder: Path) -> list[Path]:
    """Write the page into a folder, and return its files."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {path.name: path.read_bytes() for path in STATIC.iterdir()}
    content |= {path.name: path.read_bytes() for path in OWN.iterdir()}
    content["report.css"] = STYLE.encode()
    head = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n<title>'
    content["index.html"] = content["index.html"].replace(b"<title>", head.encode(), 1)
    for name, data in content.items():
        (folder / name).write_bytes(data)
    archive = folder / "symgrad.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for top in (ROOT / "symgrad", *map(package, PURE)):
            for path in sorted(top.rglob("*")):
                if path.is_file() and not LEFT_OUT & {*path.relative_to(top).parts}:
                    packed.write(path, path.relative_to(top.parent).as_posix())
    return [*(folder / name for name in content), archive]


def package(name: str) -> Path:
    """Return the folder of an installed package that is pure Python."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{name} is not installed")
    return Path(spec.origin).parent


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"
    files = build(target)
    print(f"wrote {len(files)} files into {target}; Pyodide's go into {target / 'pyodide'}")
