"""Every exception that symgrad raises: the public names of `symgrad/support/errors.py`.

`docs/errors.md` shows each class with a program that raises it and the cure.
"""

from symgrad.support.errors import *  # noqa: F403  (what the module lists is what is public)
from symgrad.support.errors import __all__ as __all__
