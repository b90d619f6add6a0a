"""Numbers as people write them in text: 720,000 with commas, 9.8 m/s^2 with a unit."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from symgrad.apps.review.layout.english import is_english

_NAMES = (
    "Nm Nmm Ncm kNm MNm mAh "
    "µm μm nm mm cm dm km ft mi yd µs μs ns ms min hr kg mg µg μg lb kN MN mN kJ MJ mJ eV keV MeV GeV cal kcal kWh Wh "
    "kW MW mW kV mV mA µA μA nA Ω kΩ MΩ ohm µF μF nF pF mH nH mT Hz kHz MHz GHz Pa kPa MPa GPa hPa mbar bar atm mol "
    "mmol kmol mL ml kL mK °C °F rad psi rpm mph gal dB lm lx Wb"
)
_LETTERS = "mshgNJWVACFHTKLlM"
_UNIT = (
    rf"(?:{'|'.join(sorted(_NAMES.split(), key=len, reverse=True))}|[{_LETTERS}])"
    r"(?![a-zA-Zµμ°Ω_'(\[])(?:(?:\^|\*\*)\s?[{(]?\s?[-−]?\d\s?[})]?|[⁻¹²³⁴]+|[-−]?\d(?![\d.]))?"
)
_SIGN = r"(?:[ \t]?(?:/|·|⋅|\*|\\cdot)[ \t]?|[ \t]|\\[,;: ]|(?<=\d))"
_PRODUCT = rf"{_UNIT}(?:{_SIGN}{_UNIT})*"
_UNITS = rf"(?:1\s?/\s?)?{_UNIT}(?:{_SIGN}(?:{_UNIT}|\({_PRODUCT}\)))*"
_NUMBER = (
    r"(?<![\w.^_{])(?:10\s?(?:\^|\*\*)\s?[-−]?\d+(?=\s)|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)"
    r"(?:\s?(?:x|×|\*|·|\\times|\\cdot)\s?10\s?(?:\^|\*\*)\s?[{(]?[-−]?\d+[)}]?)?"
)
_ENDS = (
    r"(?=\s*(?:$|[,;:)\]$=≈→⇒⟹&\\]|[-=]>|"
    r"\.(?![a-zA-Z])|\((?=\d\s?[sd]\.?\s?[fp]|[a-z]+\s)|\b(?![\d(])[a-z]{2,}\b(?![(_^])))"
)
_FACTOR = re.compile(r"(?P<name>[^\W\d_²³]+)(?:\^|\*\*)?(?P<raised>[-−]?\d|⁻?[¹²³⁴])?|(?P<sign>[/()])")
_PREFIXES = {"n": -9, "p": -12, "µ": -6, "μ": -6, "m": -3, "c": -2, "d": -1, "h": 2, "k": 3, "M": 6, "G": 9}
_SI = "m s N J W V A F H T Hz Pa Ω C K mol Nm eV rad lm lx Wb"
_BASES = {**dict.fromkeys(_SI.split(), 0), "g": -3, "L": -3, "l": -3, "Nmm": -3, "Ncm": -2, "bar": 5}
_PLAIN_DIGITS = str.maketrans("⁻−¹²³⁴", "--1234")
_PLAIN = re.compile(rf"{_NUMBER}(?P<space>[ \t]+|)(?P<units>{_UNITS}){_ENDS}", re.MULTILINE)
_SET = re.compile(
    rf"{_NUMBER}\s*(?:\\[,;:! ]|~|\s)*\s*"
    rf"(?P<set>\\(?:mathrm|text|textrm|mathsf|rm|unit|si)\s*\{{\s*(?:\\[,;: ]|~)*(?P<units>{_UNITS})\s*\}}"
    r"(?:\^\{?[-−]?\d\}?)?(?:\s*/\s*\\(?:mathrm|text)\s*\{[^{}]*\}(?:\^\{?[-−]?\d\}?)?)?)"
)
# 9.8t m/s and pi r^2 cm², behind a formula: units that are hardly names.
_CLEAR = r"(?:[mckdMG]m|[kmM]g|[kM]N|[kM]J|[kM]W|[km]V|mA|[kMG]?Hz|[kMGh]?Pa|m[Ll])"
_TAIL = re.compile(
    r"(?<==)[^=\n,;\\$]*[\w)}²³⁴'][ \t]+"
    rf"(?P<units>{_CLEAR}(?:(?:\^|\*\*)\d|[²³])?(?![\w/*])|{_UNIT}\s?/\s?{_UNIT}){_ENDS}",
    re.MULTILINE,
)
_EQUALS = re.compile("[=≈]")
# What stands before t = 18/9.8 = 1.84s: two sides, and the last of them is of numbers.
_COMPUTED = re.compile(r"[=≈]\s*(?:sqrt|ln|log|exp|sin|cos|tan|pi|[-\d.+−*/()^×·√ ])*\d[\d) ]*[=≈]\s*\Z")
_DECIMAL_COMMA = re.compile(r"(?<![\w.,])\d+,\d+(?![\w.,]*\d)(?!,)")
_SURE_COMMA = re.compile(r"(?<![\w.,])(?:0,\d+|\d+,\d\d|\d+,\d{4,}|\d+,\d(?=\s*[·×*/]))(?![\d,.])")
_POINT = re.compile(r"\d\.\d")
_BRACED_COMMA = re.compile(r"(?<![\w.,}])(?P<whole>\d+)(?P<comma>\{,\})(?P<rest>\d+)(?![\d{])")
_NUMBERS = re.compile(r"\s*[-+−]?\d+\s*(?:,\s*[-+−]?\d+\s*)+")
_ONE = re.compile(_UNITS)
_COMMAND_END = re.compile(r"\\[a-zA-Z]+[ \t]*$")
_GROUPED = re.compile(r"(?<![\w.,}])\d{1,3}(?:,\d{3})+(?![\d,])(?=(?P<rest>\.\d+)?)")
_PRIME = re.compile(r"(?<=[\w)'′’])[′’ʹ](?![^\W\d])")
_ROUNDED = re.compile(r"\d\s?[sd]\.?\s?[fp]\b")  # 3 s.f., 2dp
NUMBER = re.compile(
    r"\s*[-+−]?\s*\d+(?:\.\d*)?(?:e[-+]?\d+)?"
    r"(?:\s*(?:\\times|\\cdot|[*×·])\s*10\s*(?:\^|\*\*)\s*[{(]?\s*[-−]?\d+\s*[)}]?)?\s*",
    re.IGNORECASE,
)
"""A number alone, in any notation."""
UNIT_BEHIND = re.compile(r"(?P<number>.*\d)\s+(?P<unit>[^\W\d][\w/^*·² ]*?)\s*")
"""A number, and what may be a unit behind it."""
_WORD = re.compile(r"[^\W\d_²³]+")


@dataclass(frozen=True, slots=True)
class PlainNumbers:
    """A text with plain numbers in it.

    Args:
        text: it, as long as the one that was typed.
        units: what stood behind numbers, by the offsets at which these end.
        in_si: the text with 10e-3 for 10 mH, where there is room for the power.
    """

    text: str
    units: dict[int, str]
    in_si: str


def plain_numbers(text: str) -> PlainNumbers:
    r"""Return a text with blanks in the place of units behind numbers, and of the commas in numbers.

    A letter is a unit where no formula has it as a name: m of ``h = 9.8 m``, and not of ``p = 2 m`` beside ``m = 3``.

    Args:
        text: of a document.

    Example:
        >>> plain_numbers("v = 9.8 m/s, P = 1,250.5 W").text
        'v = 9.8    , P =  1250.5  '
        >>> plain_numbers(r"$t = 1.84\,\mathrm{s}$").text.split()
        ['$t', '=', '1.84\\,', '~$']
        >>> plain_numbers("m = 3, p = 2 m").units
        {}
        >>> plain_numbers("t = 1,84 and x = 2,5").text, plain_numbers("P = (1,2), g = 9.81").text
        ('t = 1.84 and x = 2.5', 'P = (1,2), g = 9.81')
    """
    shown = _ungrouped(_with_points(_PRIME.sub("'", text)))
    equals = [m.start() for m in _EQUALS.finditer(shown)]
    found = [(*m.span("set"), m["units"]) for m in _SET.finditer(shown)]
    found += [
        (*m.span("units"), m["units"])
        for m in _PLAIN.finditer(shown)
        if (not _letters_of(m["units"]) or (m["space"] and _is_of_numbers(shown, m.start())))
        or _is_computed(shown, m.start(), equals)
    ]
    tails = [(*m.span("units"), m["units"]) for m in _TAIL.finditer(shown)]
    tails = [t for t in tails if _COMMAND_END.search(_line_up_to(shown, t[0])) is None]  # \frac km
    tails = [t for t in tails if not any(start <= t[0] < end for start, end, _ in found)]
    rest = list(shown)
    for start, end, _ in [*found, *tails]:
        rest[start:end] = " " * (end - start)
    named = set(_variables(_ROUNDED.sub(" ", "".join(rest))))
    names = set(_WORD.findall("".join(rest)))
    found += [t for t in tails if names.isdisjoint(_WORD.findall(t[2]))]
    sure = {f for f in found if not named.issuperset(_letters_of(f[2])) or not _letters_of(f[2])}
    sure |= {f for f in found if f[2].startswith("1")}  # 10.54 1/m is no product
    circular = _circular(shown, found) if sure else set[str]()
    characters, units = list(shown), dict[int, str]()
    powers = dict[int, str]()
    for start, end, said in sorted(set(found)):
        if (start, end, said) not in sure and said.strip() not in circular:
            continue
        characters[start:end] = " " * (end - start)
        if shown[end : end + 1] == "$":  # which ends no formula behind a blank
            characters[end - 1] = "~"
        before = _line_up_to(shown, start)
        at = start - len(before) + len(before.rstrip(" \t~\\,;:!"))
        units[at] = " ".join(said.split())
        power = _power_of(units[at])
        if power and len(written := f"e{power}") <= end - at and shown[at - 1].isdigit():
            powers[at] = written
    plain = "".join(characters)
    for at, written in powers.items():
        characters[at : at + len(written)] = written
    return PlainNumbers(plain, units, "".join(characters))


def _power_of(units: str) -> int | None:
    """Return by which power of ten a unit differs from that of the SI; None for minutes, feet and others.

    Example:
        >>> [_power_of(u) for u in ("mH", "kN/m", "N/mm²", "g/(cm^3 s)", "min", "m/s")]
        [-3, 3, 6, 3, None, 0]
    """
    power, below, inside = 0, False, False
    for match in _FACTOR.finditer(units):
        name, sign = match["name"], match["sign"]
        if name is None:
            below, inside = below or sign == "/", (inside or sign == "(") and sign != ")"
            continue
        base = _BASES.get(name, _BASES.get(name[1:]))
        if base is None or (name not in _BASES and name[0] not in _PREFIXES):
            return None
        digits = (match["raised"] or "1").translate(_PLAIN_DIGITS)
        base += 0 if name in _BASES else _PREFIXES[name[0]]
        power += base * int(digits) * (-1 if below else 1)
        below = below and inside
    return power


def _with_points(text: str) -> str:
    """Return a text with 1.84 for 1,84 where it clearly writes decimals so, and with 1.5 for 1{,}5."""

    def plain(match: re.Match[str]) -> str:
        sign = "" if len(match["rest"]) == 3 else "."
        return f"{match['whole']}{sign}{match['rest']}".rjust(len(match[0]))

    text = _BRACED_COMMA.sub(plain, text)
    if _POINT.search(text) is not None or _SURE_COMMA.search(text) is None:
        return text
    shown = list(text)
    for match in _DECIMAL_COMMA.finditer(text):
        opens = max(text.rfind(c, 0, match.start()) for c in "([")
        closes = min((k for k in (text.find(c, match.end()) for c in ")]") if k >= 0), default=-1)
        if opens >= 0 and _NUMBERS.fullmatch(text[opens + 1 : closes]) is not None:
            continue  # a point
        shown[match.start() + match[0].index(",")] = "."
    return "".join(shown)


def is_unit(text: str) -> bool:
    """Tell whether a text is a unit.

    Example:
        >>> [is_unit(t) for t in ("m/s^2", "J/(mol K)", "1/min", "N", "x")]
        [True, True, True, True, False]
    """
    return _ONE.fullmatch(text) is not None


def _ungrouped(text: str) -> str:
    """Return a text with 720000 for 720,000, and a blank before it; arguments in brackets stay apart."""
    shown = list(text)
    for match in _GROUPED.finditer(text):
        line = _line_up_to(text, match.start())
        if line.count("(") > line.count(")") or line.count("[") > line.count("]"):
            continue
        number = match[0].replace(",", "") + (match["rest"] or "")
        end = match.end() + len(match["rest"] or "")
        shown[match.start() : end] = number.rjust(end - match.start())
    return "".join(shown)


def _line_up_to(text: str, place: int) -> str:
    """Return what stands before a place on its line."""
    return text[text.rfind("\n", 0, place) + 1 : place]


def _is_computed(text: str, start: int, equals: Sequence[int]) -> bool:
    """Tell whether a number stands behind a side of numbers, behind another side; `equals` says where = and ≈ are."""
    count = bisect_left(equals, start)
    return count >= 2 and _COMPUTED.match(text, equals[count - 2], start) is not None


def _letters_of(units: str) -> Sequence[str]:
    """Return the units of one letter, where there is no other one: those that may be names."""
    words = _WORD.findall(units)
    return words if all(len(w) == 1 and w in _LETTERS for w in words) else []


def _variables(text: str) -> Iterator[str]:
    """Yield the letters that stand as names in a text, alone or in short products."""
    for match in _WORD.finditer(text):
        word = match[0]
        if len(word) == 1 or (len(word) <= 3 and not is_english(word.lower())):
            yield from word


def _is_of_numbers(text: str, start: int) -> bool:
    """Tell whether a side has numbers alone up to a place: a letter behind 2*3 may be a unit, one behind 2*x not."""
    side = re.split(
        r"[=≈<>:,;$]|\b(?:is|of|at|with|and|for|when|by|about|to|from|after|in)\b|\\\w+eq?\b",
        _line_up_to(text, start),
    )[-1]
    words = r"\d[eE][-+]?\d|\\\w+|(?<!\S)[a-z]{5,}(?=\s)"  # conductivity 0.04 W
    return re.search(r"(?!(?:pi|sqrt|e)\b)[^\W\d_]+", re.sub(words, "", side)) is None


def _circular(text: str, found: Sequence[tuple[int, int, str]]) -> set[str]:
    """Return the letters behind numbers that cannot be names: m of D = 0.005 m beside m = sqrt(a*D)."""
    circular: set[str] = set()
    formulas: dict[str, str] = {}  # of letters, each the first that the text has
    for start, _, said in found:
        side = re.search(r"(?P<name>[^\W\d]\w*)\s*[=≈]\s*[-−]?[\d.eE+-]+\s*$", _line_up_to(text, start))
        if side is None:
            continue
        letter = said.strip()
        if letter not in formulas:
            meant = re.search(rf"(?<![\w.]){re.escape(letter)}\s*=\s*(?P<formula>[^=,;\n]*)", text)
            formulas[letter] = "" if meant is None else meant["formula"]
        if re.search(rf"(?<!\w){side['name']}(?!\w)", formulas[letter]) is not None:
            circular.add(letter)
    return circular
