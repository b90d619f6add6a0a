"""Raised and lowered letters of Unicode, and its fractions: x₁, x⁻¹, Aᵀ, ½."""

from __future__ import annotations

import re
import unicodedata

SUPERSCRIPTS, SUBSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹", "₀₁₂₃₄₅₆₇₈₉"
"""The raised and the lowered digits, from 0 to 9."""

_RUN = re.compile(r"[^\x00-\x7f]+")
_OWN = {"²", "³"}  # which the notation of programs is typed with, too


def script_of(character: str) -> tuple[str, str] | None:
    """Return how LaTeX marks a raised or lowered character, and the plain one; None for another one.

    Example:
        >>> script_of("₁"), script_of("⁻"), script_of("ᵀ"), script_of("x")
        (('_', '1'), ('^', '-'), ('^', 'T'), None)
    """
    form, _, code = unicodedata.decomposition(character).partition(" ")
    mark = {"<super>": "^", "<sub>": "_"}.get(form)
    plain = "" if mark is None or " " in code else chr(int(code, 16)).replace("−", "-")
    return (mark, plain) if mark is not None and plain and character not in "ªº" else None


def fraction_of(character: str) -> tuple[str, str] | None:
    """Return the numerator and the denominator of a character that is a fraction; None for another one.

    Example:
        >>> fraction_of("½"), fraction_of("2")
        (('1', '2'), None)
    """
    form, *codes = unicodedata.decomposition(character).split(" ")
    if form != "<fraction>":
        return None
    above, _, below = "".join(chr(int(code, 16)) for code in codes).partition("⁄")
    return (above, below) if above.isdigit() and below.isdigit() else None


def spelled_out(text: str) -> str:
    """Return text with x_1 for x₁, x**(-1) for x⁻¹, A.T for Aᵀ, (1/2) for ½; ² and ³ stay.

    A letter right behind a lowered or raised one begins another name: α₁α₂ are two.

    Example:
        >>> spelled_out("½ x₁² + aᵢ⁻¹ + Aᵀ + mₜ₋₁"), spelled_out("α₁α₂ + aᵀb")
        ('(1/2) x_1² + a_i**(-1) + A.T + m_tm1', 'α_1 α_2 + a.T b')
    """
    return _RUN.sub(_spelled, text)


def _spelled(match: re.Match[str]) -> str:
    found, k, run, behind = "", 0, match[0], match.string[match.end() : match.end() + 1]
    while k < len(run):
        fraction, script = fraction_of(run[k]), script_of(run[k])
        end = k + 1
        if fraction is not None:
            found += f"({fraction[0]}/{fraction[1]})"
        elif script is None or run[k] in _OWN:
            found += run[k]
        else:
            inner = script[1]
            while end < len(run) and (more := script_of(run[end])) is not None and more[0] == script[0]:
                inner += more[1]
                end += 1
            raised = ".T" if inner == "T" else f"**({inner})"
            inner = inner.replace("-", "m").replace("+", "p") if script[0] == "_" else inner  # t-1 of m_tm1
            found += raised if script[0] == "^" else f"_{inner}"
            following = run[end : end + 1] or behind
            if not found.endswith(")") and following.isalpha() and script_of(following) is None:
                found += " "
        k = end
    return found
