"""What needs a framework that is not installed is not collected: `make test-frameworks` has them all.

Limits count work alone: no answer of a test depends on how fast or how busy the machine is.
"""

import math
from importlib.util import find_spec
from pathlib import Path

from symgrad.checker import clock

clock.PATIENCE = math.inf

# A file that one of these words is in the name of, in the folders where frameworks are.
_FOLDERS = ("symgrad/interop/exporters", "symgrad/interop/importers", "tests/frameworks")
_MISSING = {
    name for name in ("dask", "jax", "joblib", "keras", "tensorflow", "torch") if find_spec(name) is None
}


_MAGIC = "symgrad/apps/notebook/magic.py"
"""What imports IPython, which is an extra."""


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out a file whose name says that it is about a framework which is not there, and the magics likewise."""
    if collection_path.as_posix().endswith(_MAGIC) and find_spec("IPython") is None:
        return True
    if collection_path.parent.as_posix().endswith(_FOLDERS) and _MISSING.intersection(
        collection_path.stem.split("_")
    ):
        return True
    return None
