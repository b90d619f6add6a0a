"""The error for a framework that is not installed."""

from __future__ import annotations

from symgrad.support.errors import UsageError

_EXTRAS = ("dask", "jax", "keras", "tensorflow", "torch")


def not_installed(name: str, error: ImportError) -> UsageError:
    """Return the error to raise.

    Args:
        name: the name of the framework, and of the extra that installs it.
        error: Python's error. If it names another framework, such as the backend of Keras, the cure installs that
            framework.

    Example:
        >>> print(not_installed("jax", ImportError("No module named 'jax'")))
        jax cannot be imported: No module named 'jax'
          try: pip install 'symgrad[jax]'
    """
    lacking = (error.name or "").partition(".")[0]
    extra = lacking if lacking in _EXTRAS else name
    return UsageError(f"{name} cannot be imported: {error}", cure=f"pip install 'symgrad[{extra}]'")
