"""Turn names into distinct identifiers that every compiler of C and C++ accepts, after any headers.

The parameters of a prototype may have the names of functions, but not the names of keywords or of macros that a header
of the library may define. Macros are in capitals by convention; the exceptions are listed here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from symgrad.compiler.llvm.engine.externals import is_in_c_library

_KEYWORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    alignas alignof asm bool constexpr false nullptr static_assert thread_local true typeof typeof_unqual fortran

    and and_eq bitand bitor catch char8_t char16_t char32_t class co_await co_return co_yield compl concept
    const_cast consteval constinit contract_assert decltype delete dynamic_cast explicit export friend mutable
    namespace new noexcept not not_eq operator or or_eq private protected public reinterpret_cast requires
    static_cast template this throw try typeid typename using virtual wchar_t xor xor_eq

    int64_t
"""
# Of the headers of C and POSIX, of compilers, and of Windows. Macros with arguments conflict with functions only.
_MACROS = """
    I complex errno imaginary math_errhandling noreturn stderr stdin stdout L_ctermid L_cuserid L_tmpnam P_tmpdir
    AF_DECnet PF_DECnet msg_cbytes d_fileno h_addr h_errno sa_handler sa_sigaction sched_priority
    sigev_notify_attributes sigev_notify_function st_atime st_ctime st_mtime hpux i386 linux mips sparc sun unix vax
    cdecl far huge interface near pascal small
"""
_FAMILIES = re.compile(
    r"(?=.*[A-Z].*[A-Z])[A-Z0-9_]+"  # NULL, NAN, INT_MAX
    r"|M_[A-Z0-9_]+\w*|(PRI|SCN)[diouxX]\w*|B\d+"
    r"|(si|s6|ifa|ifc|ifr)_[a-z0-9_]+"  # members of structures that are members of their members
)
_NO_SYMBOLS = """
    alloca assert assert_perror at_quick_exit atexit bindresvport6 crypt fpclassify gamma_r getumask inet_net_ntop
    inet_net_pton inet_neta isascii_l iscanonical iseqsig isfinite isgreater isgreaterequal isinf isless islessequal
    islessgreater isnan isnormal issignaling issubnormal isunordered iszero kill_dependency main major makedev max
    min minor offsetof setjmp sigmask signbit signbitf signbitl sigsetjmp std strdupa strndupa timeradd timerclear
    timercmp timerisset timersub toascii_l unreachable va_arg va_copy va_end va_start
"""
"""Macros with arguments that headers define and that are not functions of a library."""

_LATER = """
    acospi asinpi atan2pi atanpi compoundn cospi exp10 exp10m1 exp2m1 fmaximum fmaximum_mag fmaximum_mag_num
    fmaximum_num fminimum fminimum_mag fminimum_mag_num fminimum_num fromfp fromfpx llogb log10p1 log2p1 logp1
    nextdown nextup pow10 pown powr rootn roundeven rsqrt sinpi tanpi ufromfp ufromfpx
"""
"""Functions of C23 that earlier libraries lack."""

_FUNCTION_FAMILIES = re.compile(
    r"\w+_t"  # types
    r"|(f|d|f32x?|f64x?)(add|sub|mul|div|fma|sqrt)l?"  # rounded once, to a narrower type
    r"|[bl]e(16|32|64)toh|hto[bl]e(16|32|64)|(atomic|pthread)_\w+"
)
_NO_NAME = frozenset((_KEYWORDS + _MACROS).split())
_NO_FUNCTION = frozenset(
    [*_NO_SYMBOLS.split(), *(name + kind for name in _LATER.split() for kind in ("", "f", "l"))]
)


def c_identifier(name: str) -> str:
    """Turn a name into an identifier of C and C++.

    It begins with a letter and has no two adjacent underscores, because other identifiers are reserved; and it is
    neither a keyword nor a macro without arguments of the libraries.

    Example:
        >>> [c_identifier(name) for name in ("loss", "a-b", "double", "2x", "_x", "NAN", "W", "σ", "*/", "")]
        ['loss', 'a_b', 'double_', 'x2x', 'x', 'NAN_', 'W', 'u03C3', 'x', 'x']
    """
    letters = (c if c.isascii() and c.isalnum() else _letter(c) for c in name)
    plain = re.sub("__+", "_", "".join(letters)).lstrip("_")
    if not plain[:1].isalpha():
        plain = "x" + plain
    return plain + "_" if plain in _NO_NAME or _FAMILIES.fullmatch(plain) else plain


def c_identifiers(names: Iterable[str]) -> list[str]:
    """Turn names into distinct identifiers; names that are identifiers stay.

    Example:
        >>> c_identifiers(["double", "double_", "a-b", "a b"])
        ['double_2', 'double_', 'a_b', 'a_b_2']
    """
    originals = list(names)
    wanted = [c_identifier(name) for name in originals]
    found = [""] * len(originals)
    for k in sorted(range(len(originals)), key=lambda k: wanted[k] != originals[k]):
        found[k] = _distinct(wanted[k], found)
    return found


def c_function(name: str, called: Collection[str] = ()) -> str:
    """Turn a name into an identifier of a function that no library defines.

    Args:
        name: the name.
        called: the functions that its code calls.

    Example:
        >>> c_function("loss"), c_function("sqrt"), c_function("isnan"), c_function("size_t")
        ('loss', 'sqrt_', 'isnan_', 'size_t_')
    """
    found = c_identifier(name)
    known = found in _NO_FUNCTION or _FUNCTION_FAMILIES.fullmatch(found)
    if known or found in called or is_in_c_library(found):
        found = found.removesuffix("_") + "_"
    return _distinct(found, called)


def _letter(c: str) -> str:
    return "_" if c.isascii() else f"_u{ord(c):04X}"


def _distinct(name: str, taken: Collection[str]) -> str:
    k, found = 1, name
    while found in taken:
        k += 1
        found = f"{name.removesuffix('_')}_{k}"
    return found
