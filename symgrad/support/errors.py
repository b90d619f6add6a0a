"""Every exception symgrad raises, and nothing else.

A ``SymgradError`` is about the input, and states what failed, where, what was expected and one thing to do next. An
``InternalError`` is about symgrad itself, and asks for a report. `docs/errors.md` shows each class with a program that
raises it and the cure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from symgrad.support.source import Location

__all__ = [
    "ArrayTypeError",
    "ComplexInputError",
    "ConvergenceError",
    "CycleError",
    "DeclarationError",
    "DomainError",
    "EvaluationError",
    "FileError",
    "ForbiddenSyntaxError",
    "IndexRangeError",
    "InternalError",
    "KernelError",
    "MissingInputError",
    "NestingError",
    "NotDifferentiableError",
    "NotInProgramError",
    "NotScalarError",
    "NumberTooLargeError",
    "OperandError",
    "OutOfMemoryError",
    "ProgramSyntaxError",
    "RandomParameterError",
    "RedefinitionError",
    "ShapeError",
    "SymgradError",
    "TruthValueError",
    "UnknownAttributeError",
    "UnknownFunctionError",
    "UnknownNameError",
    "UnsupportedError",
    "UsageError",
]


class Cure(str):
    """A cure in terms of Python, with another text for the command line.

    Args:
        python: the call or the argument in Python.
        command: the option or the command instead.

    Example:
        >>> cure = Cure("name at least one input: wrt='x'", command="name at least one input: --wrt x")
        >>> cure, cure.command
        ("name at least one input: wrt='x'", 'name at least one input: --wrt x')
    """

    __slots__ = ("command",)
    command: str

    def __new__(cls, python: str, *, command: str) -> Cure:
        cure = super().__new__(cls, python)
        cure.command = command
        return cure

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, str]]:
        return (str(self),), {"command": self.command}


def name_one(argument: str, name: str) -> Cure:
    """Return the cure for a call that names no input.

    Args:
        argument: the argument for the name, and the option of the command line.
        name: an input that could be named.

    Example:
        >>> name_one("wrt", "x")
        "name at least one input: wrt='x'"
    """
    begin = "name at least one input: "
    return Cure(f"{begin}{argument}={name!r}", command=f"{begin}--{argument} {name}")


class SymgradError(Exception):
    r"""Base of all errors about the user's input.

    Args:
        what: what failed, in one sentence without a full stop.
        at: where it failed in the text, or None for input that has no text.
        expected: what would have been accepted.
        cure: one thing to do next; a `Cure` if the command line has another text.

    The four parts are attributes; ``str`` puts them on separate lines with a caret under the place, and escapes control
    characters as Python does (``\x1b``).

    Example:
        >>> from symgrad.errors import UnknownNameError
        >>> print(UnknownNameError("unknown name 'q'", cure="declare it: q : real"))
        unknown name 'q'
          try: declare it: q : real
    """

    def __init__(
        self, what: str, *, at: Location | None = None, expected: str | None = None, cure: str | None = None
    ) -> None:
        super().__init__(what)
        self.what = what
        self.at = at
        self.expected = expected
        self.cure = cure

    def __str__(self) -> str:
        return self.text()

    def text(self, *, command: bool = False) -> str:
        """Return the message, with the cure for Python or for the command line.

        Args:
            command: whether to return the cure for the command line.

        Example:
            >>> error = SymgradError("no input", cure=Cure("wrt='x'", command="--wrt x"))
            >>> print(error.text(command=True))
            no input
              try: --wrt x
        """
        lines = [self.what]
        if self.at is not None:
            lines.append(self.at.render())
        if self.expected is not None:
            lines.append(f"  expected: {self.expected}")
        cure = self.cure.command if command and isinstance(self.cure, Cure) else self.cure
        if cure is not None:
            lines.append(f"  try: {cure}")
        return _printable("\n".join(lines))

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions with keyword-only arguments do not survive pickling (worker processes) by default.
        return (_rebuild, (type(self), self.what, self.at, self.expected, self.cure))


def _printable(text: str) -> str:
    """Escape control and unprintable characters of quotations."""
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode("ascii") for c in text
    )


def _rebuild(
    cls: type[SymgradError], what: str, at: Location | None, expected: str | None, cure: str | None
) -> SymgradError:
    return cls(what, at=at, expected=expected, cure=cure)


_Found = TypeVar("_Found", bound=SymgradError)


def placed_error(error: _Found, at: Location | None) -> _Found:
    """Return the error with another place."""
    return type(error)(error.what, at=at, expected=error.expected, cure=error.cure)


class ProgramSyntaxError(SymgradError):
    """The text is not in the program notation."""


class ForbiddenSyntaxError(ProgramSyntaxError):
    """The text has syntax that no formula has: attributes, lambdas, f-strings, imports."""


class NestingError(ProgramSyntaxError):
    """Brackets, powers or unary operators nest deeper than the stated limit."""


class UnknownNameError(SymgradError):
    """A name is neither declared nor assigned."""


class UnknownFunctionError(UnknownNameError):
    """A call names a function that symgrad does not have."""


class UnknownAttributeError(UnknownNameError, AttributeError):
    """An expression does not have an attribute; an AttributeError, as in Python."""


class CycleError(SymgradError):
    """A name is defined in terms of itself, directly or through other names."""


class RedefinitionError(SymgradError):
    """A name is declared or assigned twice, or the same name stands for two different symbols."""


class DeclarationError(SymgradError):
    """A declaration names an unknown domain or distribution, or has wrong parameters for it."""


class DomainError(SymgradError):
    """Operands of a kind that an operation does not take (numbers as truth values), or a value outside its domain."""


class ShapeError(SymgradError):
    """Shapes do not broadcast, an array does not have the declared shape, or an array would be too large."""


class IndexRangeError(SymgradError, IndexError):
    """An index points outside its axis."""


class NotScalarError(ShapeError):
    """The output to differentiate is not a scalar; `gradients` and `vjp` take arrays."""


class NotInProgramError(SymgradError):
    """An input or name does not occur in the program."""


class NotDifferentiableError(SymgradError):
    """The output to differentiate is a truth value, which has no derivative."""


class RandomParameterError(SymgradError):
    """A derivative is with respect to a parameter of a distribution, and the output depends on the draw."""


class UnsupportedError(SymgradError):
    """The request has a meaning, but symgrad does not implement it; the message names an alternative."""


class ArrayTypeError(SymgradError):
    """An input is not a numeric array (object, string, datetime, or a dtype that the kernel does not take)."""


class ComplexInputError(ArrayTypeError):
    """An input is complex; declared symbols are real."""


class MissingInputError(SymgradError):
    """An input has no value, or a value belongs to a name that is not an input."""


class EvaluationError(SymgradError):
    """A value cannot be computed."""


class NumberTooLargeError(EvaluationError):
    """A constant such as 9**9**9**9 is beyond what any float or memory can hold."""


class OutOfMemoryError(EvaluationError, MemoryError):
    """Values need more memory than there is; the error is also a `MemoryError`."""


class KernelError(SymgradError):
    """A kernel cannot be compiled or called with these options."""


class ConvergenceError(EvaluationError):
    """An iteration met a number that is not finite, left a domain, or did not converge."""


class FileError(SymgradError):
    """A file cannot be read or written, or is damaged."""


class TruthValueError(SymgradError):
    """An expression was used as a Python truth value, which would silently decide a formula."""


class UsageError(SymgradError):
    """Arguments of a function or command do not fit together."""


class OperandError(UsageError, TypeError):
    """An operand has no meaning for an operator, such as a text; a TypeError, as in Python."""


class InternalError(Exception):
    """A bug in symgrad: please report it with the program that caused it."""


for _name in __all__:  # tracebacks and pickles refer to the public module
    globals()[_name].__module__ = "symgrad.errors"
