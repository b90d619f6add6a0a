"""Names of other libraries (NumPy, torch, SymPy) and their equivalents in symgrad, for error messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from typing import ParamSpec, TypeVar

from symgrad.api.handles.base import Handle
from symgrad.api.handles.inputs import inputs_of
from symgrad.frontend.tokens.foreign_syntax import ARGUMENTS
from symgrad.ir.listing import suggest
from symgrad.support.errors import UnknownAttributeError, UsageError
from symgrad.support.public_names import MODULES, PUBLIC, class_name, public, public_name

_VALUE = "values are those of a call: {y}({values})"
_ALREADY = "leave it out: every input can be differentiated by, sg.grad({loss}, {x!r})"
_SAME = "leave it out: an expression never changes, so it needs no copy"
_KERNEL = "leave it out; the precision is chosen where it is compiled: sg.compile({y}, dtype='float32')"
_CHANGES = "an expression never changes: make a new one, or {y}.subs({x}=0.5)"

# fmt: off
_ATTRIBUTES: Mapping[str, str] = {
    **dict.fromkeys(["detach", "stop_gradient"], "sg.stop_gradient({y})"),
    **dict.fromkeys(["backward", "grad", "gradient", "gradients", "diff", "derivative"], "sg.grad({loss}, {x!r})"),
    **dict.fromkeys(["requires_grad", "requires_grad_", "retain_grad"], _ALREADY),
    **dict.fromkeys(["item", "numpy", "tolist", "eval", "evaluate", "evalf", "n", "value", "data"], _VALUE),
    **dict.fromkeys(["copy", "clone", "contiguous", "doit"], _SAME),
    **dict.fromkeys(["astype", "float", "double", "half", "to", "type", "cpu", "cuda", "device"], _KERNEL),
    **dict.fromkeys(["fill", "fill_", "zero_", "assign", "add_", "mul_", "sub_", "copy_", "set", "at"], _CHANGES),
    **dict.fromkeys(["conj", "conjugate", "real", "adjoint"], "leave it out: values are real"),
    **dict.fromkeys(["t", "H", "permute"], "{y}.T, or {y}.transpose(axes)"),
    "view": "{y}.reshape(shape)",
    "unsqueeze": "sg.arrays.expand_dims({y}, axis)",
    "add": "{y} + other", "sub": "{y} - other", "mul": "{y}*other", "div": "{y}/other", "pow": "{y}**other",
    "mm": "{y} @ other", "bmm": "{y} @ other", "mv": "{y} @ other", "matmul": "{y} @ other",
    "I": "sg.linalg.inv({y})", "inverse": "sg.linalg.inv({y})",
    "lambdify": "sg.compile({y})",
    "free_symbols": "{y}.inputs", "args": "{y}.equations", "func": "{y}.equations", "atoms": "{y}.inputs",
    "expand": "{y}.text(expand=True) writes it over inputs alone, {y}.canonical() collects it",
    "factor": "{y}.simplify()", "collect": "{y}.canonical()", "together": "{y}.canonical()",
    "diagonal": "sg.arrays.diag({y})",
}

_FUNCTIONS: Mapping[str, str] = {
    **dict.fromkeys(["diff", "gradient", "derivative", "D"], "sg.grad(y, x)"),
    **dict.fromkeys(["detach", "no_grad", "lax", "stop_gradients"], "sg.stop_gradient(x)"),
    **dict.fromkeys(["Symbol", "symbol", "Symbols", "variable", "Variable", "scalar"],
                    "x, y = sg.symbols('x y')"),
    **dict.fromkeys(["array", "asarray", "Tensor", "Array", "matrix", "vector", "Matrix", "placeholder"],
                    "X = sg.tensor('X', ('n', 3)), or sg.arrays.stack([x, y]) of expressions"),
    **dict.fromkeys(["lambdify", "jit", "function", "vmap"], "sg.compile(y)"),
    **dict.fromkeys(["jacrev", "jacfwd", "jac", "Jacobian"], "sg.jacobian(y, x)"),
    **dict.fromkeys(["Hessian", "hess"], "sg.hessian(y, x)"),
    **dict.fromkeys(["Eq", "Equality"], "sg.implicit(a - b, x, start=1.0) solves; sg.equal(a, b) decides"),
    "program": "sg.parse(text)", "load_program": "sg.parse(text)", "read": "sg.parse(text)",
    "e": "sg.exp(1)",
    "inf": "float('inf') in a call, e(x=float('inf'))", "nan": "float('nan') in a call, e(x=float('nan'))",
    "concat": "sg.arrays.concatenate((a, b))", "cat": "sg.arrays.concatenate((a, b))", "cond": "sg.where(c, a, b)",
    "reduce_sum": "sg.sum(x)", "reduce_mean": "sg.mean(x)", "Abs": "sg.abs(x)",
}
# fmt: on


_SORTS = "np.maximum, np.minimum and np.where choose; positions in sorted order pass as an argument"
_MASKS = "np.where(condition, x, 0), and the sum of np.where(condition, 1, 0) for the number of entries"
_SPLITS = "np.linalg.solve, inv, det, slogdet and cholesky"
_WRITES = "np.where(np.arange(5) == 2, new, x) is x with another x[2]; np.stack joins parts"
_NANS = "leave it out, or choose before: np.where(known, x, 0) with a mask that is passed as an argument"
_NUMBERS = "compute it before, and pass the numbers as an argument"

_OF_NUMPY: Mapping[str, str] = {
    **dict.fromkeys(
        [
            "partition",
            "argpartition",
            "lexsort",
            "sort_complex",
            "unique",
            "histogram",
            "histogram2d",
            "histogramdd",
            "histogram_bin_edges",
            "nanmedian",
            "nanpercentile",
            "nanquantile",
            "unique_all",
            "unique_counts",
            "unique_inverse",
            "unique_values",
            "bincount",
            "intersect1d",
            "setdiff1d",
            "setxor1d",
            "union1d",
            "isin",
        ],
        _SORTS,
    ),
    **dict.fromkeys(
        ["nonzero", "flatnonzero", "argwhere", "compress", "extract", "place", "trim_zeros", "delete"], _MASKS
    ),
    **dict.fromkeys(
        [
            "linalg.eig",
            "linalg.eigh",
            "linalg.eigvals",
            "linalg.eigvalsh",
            "linalg.svd",
            "linalg.svdvals",
            "linalg.qr",
            "linalg.pinv",
            "linalg.lstsq",
            "linalg.matrix_rank",
            "linalg.cond",
        ],
        _SPLITS,
    ),
    **dict.fromkeys(
        [
            "copyto",
            "put",
            "put_along_axis",
            "putmask",
            "fill_diagonal",
            "insert",
            "resize",
            "add.at",
            "subtract.at",
            "multiply.at",
        ],
        _WRITES,
    ),
    **dict.fromkeys(
        [
            "nansum",
            "nanmean",
            "nanmax",
            "nanmin",
            "nanprod",
            "nanvar",
            "nanstd",
            "nanargmax",
            "nanargmin",
            "nancumsum",
            "nancumprod",
            "nan_to_num",
            "isnan",
            "isinf",
            "isfinite",
            "isposinf",
            "isneginf",
        ],
        _NANS,
    ),
    **dict.fromkeys(
        [
            "roots",
            "poly",
            "polyfit",
            "polydiv",
            "polymul",
            "polyadd",
            "polysub",
            "polyder",
            "polyint",
            "unwrap",
            "frexp",
            "modf",
            "nextafter",
            "spacing",
            "ldexp",
            "gcd",
            "lcm",
        ],
        _NUMBERS,
    ),
    **dict.fromkeys(["allclose", "isclose", "array_equal", "array_equiv"], "compare: abs(x - y) <= 1e-8"),
    **dict.fromkeys(["matvec", "vecmat"], "A @ x"),
    **dict.fromkeys(["array_split", "hsplit", "vsplit", "dsplit", "unstack"], "np.split(x, sections, axis)"),
    **dict.fromkeys(["dstack", "block"], "np.stack and np.concatenate"),
    "options": "leave out the options that it does not have",
    "fmod": "x % y has the sign of y",
    "linalg.matrix_norm": "np.linalg.norm(A)",
    "piecewise": "np.select(conditions, values), or np.where",
    "choose": "np.select(conditions, values), or np.where",
    "apply_along_axis": "write it for the whole array with axis=, or a loop over its rows",
    "apply_over_axes": "write it for the whole array with axis=",
    "signbit": "x < 0",
    "imag": "leave it out: values are real",
    "angle": "np.arctan2(y, x) of the parts of a complex number",
    "binom": "np.exp(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))",
    "poch": "np.exp(gammaln(x + m) - gammaln(x))",
    "kl_div": "rel_entr(x, y) - x + y",
    "boxcox": "(x**a - 1)/a for a other than 0, np.log(x) for 0",
    "pseudo_huber": "d**2*(np.sqrt(1 + (r/d)**2) - 1)",
}
"""What to write in place of functions of NumPy and SciPy."""


def cure_of_numpy(name: str) -> str:
    """Return what to write in place of a function of NumPy, or of a ufunc of SciPy, by its name."""
    family = (
        "write the sums of cosines and sines as products with matrices" if name.startswith("fft.") else None
    )
    return (
        _OF_NUMPY.get(name)
        or family
        or "write it with the functions that expressions have: docs/numpy-functions.md"
    )


P = ParamSpec("P")
R = TypeVar("R")


def refuse_torch_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function of NumPy raise an error with a cure for the names of torch's arguments.

    Raises:
        UsageError: for an argument named dim, keepdim or correction.
    """

    @wraps(function)
    def apply(*args: P.args, **options: P.kwargs) -> R:
        for name, value in options.items():
            word = ARGUMENTS.get(name)
            if word is not None:
                raise UsageError(
                    f"{function.__name__} takes no argument named '{name}'",
                    expected="NumPy's names of arguments",
                    cure=f"{word}={value!r}",
                )
        return function(*args, **options)

    return apply


_OF_PROGRAMS = ("inputs", "last", "names", "outputs", "result")


def no_attribute(expr: Handle, name: str) -> UnknownAttributeError:
    """Return the error for an attribute that expressions do not have, with a replacement.

    Libraries probe attributes often. So the message contains only names, which print fast.
    """
    y = expr.name or "y"
    inputs = inputs_of([expr])
    cure = _ATTRIBUTES.get(name)
    if cure is not None:
        cure = cure.format(
            y=y,
            x=next((i.name for i in inputs if i.dtype == "real"), "x"),
            loss="loss" if not expr.node.args else f"sg.sum({y})" if expr.node.shape else y,
            values=", ".join(f"{i.name}=..." for i in inputs),
        )
    elif (place := public_name(name)) is not None and callable(function := public(name)):
        needed = [p for p in signature(function).parameters.values() if p.default is Parameter.empty]
        cure = f"sg.{place}({y}{', ...' if len(needed) > 1 else ''})"
    else:
        cure = suggest(name, (n for n in dir(expr) if not n.startswith("_")))
    return UnknownAttributeError(
        f"an expression has no attribute '{name}'", expected="an attribute or method of Expr", cure=cure
    )


def no_attribute_of_program(names: Sequence[str], name: str) -> UnknownAttributeError:
    """Return the error for an attribute that programs do not have: the names of a program are its keys."""
    cure = f"program[{name!r}]" if name in names else suggest(name, _OF_PROGRAMS)
    if name in _ATTRIBUTES and cure is None:
        cure = f"take one of its values first, y = program[{(names or ('y',))[-1]!r}]"
    return UnknownAttributeError(
        f"a program has no attribute '{name}'", expected=f"one of {', '.join(_OF_PROGRAMS)}", cure=cure
    )


def no_function(name: str) -> str:
    """Return the cure for a name that symgrad does not have, as the end of a message."""
    place = class_name(name)
    cure = _FUNCTIONS.get(name) or (f"sg.{place}" if place else suggest(name, [*PUBLIC, *MODULES]))
    return f"; try: {cure}" if cure else ""
