"""List the words in the names in symgrad/: `python tools/names.py` prints the words that are not in tools/names.txt.

Names are those of modules, packages, classes and functions. The list has three parts: words with their meanings, one on
each line (`word: meaning`), to which a new word is added; words of plain English and of the field, which are older than
the list; and words that no new name may use (`! word count`), with the number of names that still use them.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "tools" / "names.txt"

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def words() -> Counter[str]:
    """Return how many names in symgrad/ have each word."""
    found: Counter[str] = Counter()
    for file in sorted((ROOT / "symgrad").rglob("*.py")):
        names = [file.parent.name if file.stem == "__init__" else file.stem]
        tree = ast.parse(file.read_text(encoding="utf-8"))
        kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        names += [node.name for node in ast.walk(tree) if isinstance(node, kinds)]
        for name in names:
            if not name.startswith("__"):
                found.update({word.lower() for word in _WORD.findall(name)})
    return found


def listed() -> tuple[dict[str, str], set[str], dict[str, int]]:
    """Return words with their meanings, words without, and words to avoid with the number of their uses."""
    meanings: dict[str, str] = {}
    plain: set[str] = set()
    avoided: dict[str, int] = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("! "):
            _, word, count = line.split()
            avoided[word] = int(count)
        elif ": " in line:
            word, _, meaning = line.partition(": ")
            meanings[word] = meaning
        elif line and not line.startswith("#"):
            plain.update(line.split())
    return meanings, plain, avoided


def main() -> int:
    """Print the words that are not in the list."""
    meanings, plain, avoided = listed()
    missing = sorted(set(words()) - set(meanings) - plain - set(avoided))
    print("\n".join(missing) or "no word is missing")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
