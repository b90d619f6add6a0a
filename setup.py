"""What pyproject.toml cannot say: the readme of the package is README.md, with links that work outside the tree."""

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
SOURCE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Source"]


def absolute(link: re.Match[str]) -> str:
    """Return a link of the README with its whole address: images as they are, everything else as a page."""
    kind = "raw" if link["image"] else "blob"
    return f"{link['image']}[{link['text']}]({SOURCE}/{kind}/main/{link['path']})"


README = (ROOT / "README.md").read_text(encoding="utf-8")
LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^]]*)\]\((?![a-z]+:|#)(?P<path>[^)\s]+)\)")

setup(long_description=LINK.sub(absolute, README), long_description_content_type="text/markdown")
