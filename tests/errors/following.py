"""Follows cures of the program notation, as someone would who copies what they say into the text.

A cure is followed at the place of its error. What stands there is more or less of what the cure replaces: the text
counts as repaired if one of the places around it gives a program that is read, or whose next fault is further on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import symgrad as sg
from symgrad.errors import SymgradError

Parse = Callable[[str], object]

__all__ = ["REASONS", "followed", "why_not"]

REASONS: dict[str, str] = {
    # A cure in words, by the beginning of what it says: why nobody can follow it without knowing what was meant.
    "check the": "it asks to compare shapes, of which either may be the wrong one",
    "correct": "which value is right is the user's to say",
    "write a value": "the value is the user's to say",
    "give one name its first value": "the value and the step are the user's to say",
    "write the value": "the value is the user's to say",
    "write one value": "which of the values is the user's to say",
    "write one line for each": "the lines are the user's to write",
    "write a formula": "the formula is the user's to say",
    "write the formula itself": "the formula is in the user's text in quotes, which is no program",
    "write its formula": "the formula is the user's to say",
    "write either": "which of the two is the user's to say",
    "write the parameters in their order": "their order is the user's to say",
    "write the end": "the end is the user's to say",
    "write the real and the imaginary part": "the parts follow from what the number was for",
    "write a function call such as": "which function is the user's to say",
    "write a function before": "which function is the user's to say",
    "write a number": "the number is the user's to say",
    "write one decimal point": "which of the points is wrong is the user's to say",
    "write each term": "the terms are the user's to say",
    "write a comparison": "the comparison is the user's to say",
    "write name = ...": "which of the two is meant is the user's to say",
    "write == to compare, or": "which of the two is meant is the user's to say",
    "write y = ...": "the formula is the user's to say",
    "write a new name": "the name is the user's to say",
    "write the formula as an assignment": "the formula is the user's to say",
    "write x[i, j], or": "which of the two is meant is the user's to say",
    "write x[::2] or": "the step is the user's to say",
    "write where(": "the condition is the user's to say",
    "write 1, 2,": "which norm is the user's to say",
    "write real(low, high)": "the ends are the user's to say",
    "write int(low, high)": "the ends are the user's to say",
    "write Uniform(low, high)": "which distribution is the user's to say",
    "write gamma(n + 1)": "what the sign was to mean is the user's to say",
    "write the formula without dollar signs": "two signs go, of which one is at fault",
    "write an integer such as": "the integer is the user's to say",
    "write the number in base ten": "the number is one in another base",
    "write _ only between digits": "where a digit is missing is the user's to say",
    "write a if": "the condition is the user's to say",
    "write y = a if": "the condition is the user's to say",
    "write Piecewise": "the pieces are the user's to say",
    "write Rational(": "the numbers are the user's to say",
    "write stack((a": "the values are the user's to say",
    "write x*2**n": "the numbers are the user's to say",
    "write parentheses": "what the operands are is the user's to say",
    "write them first": "the subscripts are the user's to say",
    "write ((1, None": "which slice is meant is the user's to say",
    "write sum(x)": "the array is the user's to say",
    "write min(where": "the condition is the user's to say",
    "write swapaxes(x": "the array is named otherwise",
    "write idx ~": "the sizes are the user's to say",
    "write exp(...) for powers": "which of the three is meant is the user's to say",
    "write (...)": "the dots stand for what is in the brackets: rows of their own copy it",
    "add the missing argument": "the argument is the user's to say",
    "add: else b": "the other value is the user's to say",
    "add axes": "the axes are the user's to say",
    "complete the line": "how it goes on is the user's to say",
    "compare": "what to compare with is the user's to say",
    "declare the real": "two formulas are the user's to write",
    "declare it int": "whether the values are whole is the user's to say",
    "declare the size": "which of the two is meant is the user's to say",
    "divide them": "the numbers are the user's to say",
    "declare independent": "mu, L and a stand for the mean, the factor and the parameter that are the user's to say",
    "draw fewer": "the sizes are the user's to say",
    "end it": "the condition is the user's to say",
    "reduce over": "the axes are the user's to say",
    "take a limit": "the limit is the user's to say",
    "NaN is no number": "the limit is the user's to say",
    "use": "what is computed otherwise is the user's to say",
    "transpose": "which of them is the user's to say",
    "as a name": "the formula of a function is written where the function is used",
    "all functions are known": "the line goes: rows of their own remove it",
    "assign on a line": "the name is the user's to say",
    "remove it, or": "which of the two is the user's to say",
    "write - or remove it": "which of the two is the user's to say",
    "write ( and )": "what is to stand between the brackets is the user's to say",
    "remove what follows": "which of the two is the user's to say",
    "call it": "which of the two is the user's to say",
}


def why_not(cure: str) -> str | None:
    """Return why a cure is not followed by `followed`; None if it is."""
    return next((why for begin, why in REASONS.items() if cure.startswith(begin)), None)


def _parts(cure: str) -> Iterator[Callable[[str, int, int], list[str]]]:
    """Yield what a cure does to a text at the place of its error, for each way in which it can be read."""

    def filled(form: str) -> Callable[[str, int, int], list[str]]:
        """The dots stand for what follows, with its brackets or without."""
        before, _, behind = form.partition("(...)")
        return lambda text, a, b: [
            f"{text[:i]}{before}({text[k:j].strip('() ')}){behind}{text[j:]}"
            for i, j in _around(text, a, b)
            for k in range(b, j + 1)
        ]

    def placed(what: str) -> Callable[[str, int, int], list[str]]:
        return lambda text, a, b: [text[:i] + what + text[j:] for i, j in _around(text, a, b)]

    if found := re.fullmatch(r"did you mean '(.+)'\?", cure):
        yield placed(found[1])
    elif found := re.fullmatch(
        r"(?:use a new name on the left, or )?"
        r"declare (?:it(?: as an array)?|them as arrays|an input)(?:, on a line above)?: (.+)",
        cure,
    ):
        yield lambda text, a, b: [f"{found[1]}\n{text}", f"{text}\n{found[1]}"]
    elif found := re.fullmatch(r"move line (\d+) up", cure):
        yield lambda text, a, b: _moved(text, int(found[1]))
    elif found := re.fullmatch(r"move the definition of (\w+) before this", cure):
        yield lambda text, a, b: [_first(text, found[1])]
    elif found := re.fullmatch(r"add the missing '(.)'|add: (.+)", cure):
        more = found[1] or found[2]
        yield lambda text, a, b: [text[:k].rstrip(" ") + more + text[k:] for k in range(b, len(text) + 1)]
    elif cure == "remove an argument":
        yield lambda text, a, b: [text[:i] + text[b - 1 :] for i in range(b - 1, a, -1) if text[i] == ","]
    elif re.match(r"(?:leave it out|remove it|leave '.*' out)\b", cure):
        yield lambda text, a, b: [text[:i] + text[j:] for i, j in _around(text, a, b)]
    elif found := re.fullmatch(r"declare (.+), and write (?:(.+) = )?(.+?)(?:, where .*)?", cure):
        yield lambda text, a, b: [_instead(text, a, *found.groups())]
    elif cure == "exchange the ends":
        yield lambda text, a, b: [re.sub(r"\(([^,()]+), ([^,()]+)\)", r"(\2, \1)", text)]
    elif found := re.fullmatch(r"draw an array of that shape: ~ (.+)", cure):
        yield placed(found[1])
    elif cure == "choose another name":
        yield placed("another")
    elif found := re.fullmatch(r"give it a name: (\w+) = \.\.\.", cure):
        yield lambda text, a, b: [text[:a] + f"{found[1]} = " + text[a:]]
    elif cure == "write a space":
        yield placed(" ")
    elif found := re.match(r"(?:choose|give one of them) another name, such as (\w+)", cure):
        yield placed(found[1])
    elif found := re.fullmatch(r"move it before the keyword arguments", cure):
        yield lambda text, a, b: [re.sub(r"\((\w+=[^,()]*), ([^,()]*)\)", r"(\2, \1)", text)]
    elif found := re.search(r": write (.+)$", cure) or re.fullmatch(r"write (.+)", cure):
        for part in re.split(r" or (?=\d)| to (?=compare)|, (?:or|not|without|in) | for | \(the", found[1])[
            :1
        ]:
            yield filled(part) if part.count("(...)") == 1 else placed(part)


def _instead(text: str, at: int, declared: str, name: str | None, value: str) -> str:
    """Return a text with a declaration and a definition in the place of the statement that draws."""
    statements = re.split(r"(;|\n)", text)
    place = next(k for k in range(len(statements)) if len("".join(statements[: k + 1])) > at)
    drawn = statements[place].partition("~")[0].strip()
    statements[place] = f"{declared}; {name or drawn} = {value}"
    return "".join(statements)


def _first(text: str, name: str) -> str:
    statements = [s.strip() for s in text.split(";")]
    return "; ".join(sorted(statements, key=lambda s: not re.match(rf"{name}\b", s)))


def _moved(text: str, number: int) -> list[str]:
    lines = text.split("\n") if text.count("\n") else text.split(";")
    lines.insert(0, lines.pop(number - 1)) if number <= len(lines) else None
    return ["\n".join(lines)]


def _around(text: str, a: int, b: int) -> list[tuple[int, int]]:
    """Return the places around one that a cure may replace, the smallest first: to the ends of tokens, on its line."""
    start, end = text.rfind("\n", 0, a) + 1, (text.find("\n", b) if "\n" in text[b:] else len(text))
    cuts = sorted(
        {m.start() for m in re.finditer(r"\b|\W", text)}
        | {m.end() for m in re.finditer(r"\W", text)}
        | {a, b}
    )
    found = [(i, j) for i in cuts for j in cuts if start <= i <= a and b <= j <= end]
    return sorted(found, key=lambda p: p[1] - p[0])


def _fault(text: str, parse: Parse) -> SymgradError | None:
    try:
        parse(text)
    except SymgradError as error:
        return error
    return None


def _behind(then: SymgradError, repaired: str, text: str, end: int) -> bool:
    """Tell whether a fault stands behind what was repaired, or nothing is left of a text that was all at fault."""
    assert then.at is not None
    return not repaired.strip() or len(repaired) - then.at.span.start <= len(text) - end


def followed(text: str, error: SymgradError, parse: Parse = sg.parse, depth: int = 3) -> str | None:
    """Return a text in which a cure is followed, and whose fault is gone; None if there is none.

    Names that the repaired text has to declare after all are declared as the next cure says.
    """
    assert error.at is not None
    span = error.at.span
    for change in _parts(str(error.cure)):
        for repaired in change(text, span.start, span.end):
            then = _fault(repaired, parse)
            if then is None or (
                then.what != error.what and then.at is not None and _behind(then, repaired, text, span.end)
            ):
                return repaired
            if then.what != error.what and str(then.cure).startswith("declare") and depth:
                rest = followed(repaired, then, parse, depth - 1)
                if rest is not None:
                    return rest
    return None
