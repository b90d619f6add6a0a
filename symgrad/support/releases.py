"""Reject pickles of other releases with an error that names the release that wrote them."""

from __future__ import annotations

from symgrad.support.errors import FileError

RELEASE = "0.2"
"""The release in pickles of graphs. Releases with the same major and minor number read each other's pickles."""

_OLD_NAMES = (
    "arrange backward cas cli documents export files gradcode importers kernel llvm logs lower mistakes moments "
    "notebook proof reasons render rules source spell stops surface verdicts web words work"
)
_OLD_MODULES = frozenset(f"symgrad.{name}" for name in _OLD_NAMES.split())
"""Packages and modules of symgrad 0.1, to which its pickles refer."""


def check_release(release: str | None) -> None:
    """Raise an error for a graph that another release pickled.

    Args:
        release: the release in the pickle; None for symgrad 0.1, whose pickles have none.

    Raises:
        FileError: if this release does not read the pickle.

    Example:
        >>> check_release(RELEASE)
        >>> check_release(None)
        Traceback (most recent call last):
        symgrad.errors.FileError: a pickle of symgrad 0.1 is not read by symgrad 0.2
          expected: a pickle of symgrad 0.2
          try: read it with symgrad 0.1 and keep the text of the program, str(program)
    """
    if release != RELEASE:
        writer = release or "0.1"
        raise FileError(
            f"a pickle of symgrad {writer} is not read by symgrad {RELEASE}",
            expected=f"a pickle of symgrad {RELEASE}",
            cure=f"read it with symgrad {writer} and keep the text of the program, str(program)",
        )


class OldModules:
    """A finder that comes last among the finders of imports; its error names the release of an old module."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Raise an error for modules of symgrad 0.1; never find a module.

        Raises:
            ModuleNotFoundError: if symgrad 0.1 had the module.

        Example:
            >>> import symgrad.proof
            Traceback (most recent call last):
            ModuleNotFoundError: 'symgrad.proof' was a module of symgrad 0.1, whose pickles symgrad 0.2 does not read
        """
        if name in _OLD_MODULES:
            raise ModuleNotFoundError(
                f"'{name}' was a module of symgrad 0.1, whose pickles symgrad {RELEASE} does not read",
                name=name,
            )
