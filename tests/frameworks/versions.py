"""Say which versions of the frameworks there are: ``python -m tests.frameworks.versions``."""

import platform
from importlib.metadata import PackageNotFoundError, version

NAMES = ("jax", "torch", "tensorflow-cpu", "tensorflow", "keras", "dask", "joblib", "numba", "numpy")


def versions() -> dict[str, str]:
    """Return the versions of what is installed."""
    found: dict[str, str] = {}
    for name in NAMES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


if __name__ == "__main__":
    print(f"Python {platform.python_version()},", ", ".join(f"{n} {v}" for n, v in versions().items()))
