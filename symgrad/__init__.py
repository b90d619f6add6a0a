r"""Symbolic differentiation and graph rewriting: exact gradients, the reason for every term, native kernels.

Example:
    >>> import symgrad as sg
    >>> p = sg.parse("x : real\ny = sin(x**2)")
    >>> print(sg.grad(p["y"], p["x"]).canonical())
    2*x*cos(x**2)
"""

from __future__ import annotations

import builtins
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

__version__ = "0.1.0"

# The whole public surface: name -> the module that has it, imported when the name is first asked for. Add a line here
# and the same name under TYPE_CHECKING below; a test holds the two together.
_PUBLIC: dict[str, str] = {
    "Chi": "symgrad.api.functions",
    "Ci": "symgrad.api.functions",
    "Derivatives": "symgrad.api.derivatives",
    "Expr": "symgrad.api.expr",
    "Implicit": "symgrad.api.unknowns",
    "Kernel": "symgrad.kernel.kernel",
    "LambertW": "symgrad.api.functions",
    "Li": "symgrad.api.functions",
    "Minimum": "symgrad.api.minimize",
    "Program": "symgrad.api.program",
    "RowGradient": "symgrad.api.row_gradient",
    "Shi": "symgrad.api.functions",
    "Si": "symgrad.api.functions",
    "Training": "symgrad.api.train",
    "Verdict": "symgrad.verify.verdict",
    "abs": "symgrad.api.functions",
    "acos": "symgrad.api.functions",
    "acosh": "symgrad.api.functions",
    "acot": "symgrad.api.functions",
    "acoth": "symgrad.api.functions",
    "acsc": "symgrad.api.functions",
    "acsch": "symgrad.api.functions",
    "airyai": "symgrad.api.functions",
    "airyaiprime": "symgrad.api.functions",
    "airybi": "symgrad.api.functions",
    "airybiprime": "symgrad.api.functions",
    "arange": "symgrad.api.layout",
    "arccos": "symgrad.api.functions",
    "arccosh": "symgrad.api.functions",
    "arcsin": "symgrad.api.functions",
    "arcsinh": "symgrad.api.functions",
    "arctan": "symgrad.api.functions",
    "arctan2": "symgrad.api.functions",
    "arctanh": "symgrad.api.functions",
    "argmax": "symgrad.api.arrays",
    "argmin": "symgrad.api.arrays",
    "asec": "symgrad.api.functions",
    "asech": "symgrad.api.functions",
    "asin": "symgrad.api.functions",
    "asinh": "symgrad.api.functions",
    "atan": "symgrad.api.functions",
    "atan2": "symgrad.api.functions",
    "atanh": "symgrad.api.functions",
    "batch_jacobian": "symgrad.api.jacobians",
    "beta": "symgrad.api.functions",
    "betaln": "symgrad.api.functions",
    "binomial": "symgrad.api.functions",
    "broadcast_to": "symgrad.api.layout",
    "cbrt": "symgrad.api.functions",
    "ceil": "symgrad.api.functions",
    "check_domain": "symgrad.api.gaps",
    "clip": "symgrad.api.functions",
    "compile": "symgrad.api.compile",
    "concatenate": "symgrad.api.layout",
    "cos": "symgrad.api.functions",
    "cosh": "symgrad.api.functions",
    "cosm": "symgrad.api.matrices",
    "cosm_frechet": "symgrad.api.matrices",
    "cot": "symgrad.api.functions",
    "coth": "symgrad.api.functions",
    "csc": "symgrad.api.functions",
    "csch": "symgrad.api.functions",
    "cumsum": "symgrad.api.arrays",
    "custom_gradient": "symgrad.api.custom",
    "dawsn": "symgrad.api.functions",
    "derivatives": "symgrad.api.differentiate",
    "det": "symgrad.api.matrices",
    "diag": "symgrad.api.arrays",
    "digamma": "symgrad.api.functions",
    "dot": "symgrad.api.arrays",
    "einsum": "symgrad.api.arrays",
    "ellipe": "symgrad.api.functions",
    "ellipeinc": "symgrad.api.functions",
    "ellipk": "symgrad.api.functions",
    "ellipkinc": "symgrad.api.functions",
    "elu": "symgrad.api.functions",
    "equal": "symgrad.api.verify",
    "erf": "symgrad.api.functions",
    "erfc": "symgrad.api.functions",
    "erfcinv": "symgrad.api.functions",
    "erfcx": "symgrad.api.functions",
    "erfi": "symgrad.api.functions",
    "erfinv": "symgrad.api.functions",
    "exp": "symgrad.api.functions",
    "exp1": "symgrad.api.functions",
    "exp2": "symgrad.api.functions",
    "expand_dims": "symgrad.api.layout",
    "expi": "symgrad.api.functions",
    "expint": "symgrad.api.functions",
    "expit": "symgrad.api.functions",
    "explain": "symgrad.api.explain",
    "expm": "symgrad.api.matrices",
    "expm1": "symgrad.api.functions",
    "expm_frechet": "symgrad.api.matrices",
    "eye": "symgrad.api.layout",
    "factorial": "symgrad.api.functions",
    "flip": "symgrad.api.layout",
    "floor": "symgrad.api.functions",
    "floor_divide": "symgrad.api.functions",
    "fresnelc": "symgrad.api.functions",
    "fresnels": "symgrad.api.functions",
    "from_sympy": "symgrad.api.from_sympy",
    "full": "symgrad.api.layout",
    "gamma": "symgrad.api.functions",
    "gammainc": "symgrad.api.functions",
    "gammaincc": "symgrad.api.functions",
    "gelu": "symgrad.api.functions",
    "gelu_tanh": "symgrad.api.functions",
    "grad": "symgrad.api.differentiate",
    "gradients": "symgrad.api.differentiate",
    "heaviside": "symgrad.api.functions",
    "hessian": "symgrad.api.jacobians",
    "huber": "symgrad.api.functions",
    "hvp": "symgrad.api.jacobians",
    "hypot": "symgrad.api.functions",
    "ignore_noise": "symgrad.api.synthesis",
    "implicit": "symgrad.api.implicit",
    "inner": "symgrad.api.arrays",
    "inv": "symgrad.api.matrices",
    "iv": "symgrad.api.functions",
    "ive": "symgrad.api.functions",
    "jacobian": "symgrad.api.jacobians",
    "jv": "symgrad.api.functions",
    "jvp": "symgrad.api.differentiate",
    "kron": "symgrad.api.matrices",
    "kv": "symgrad.api.functions",
    "leaky_relu": "symgrad.api.functions",
    "lgamma": "symgrad.api.functions",
    "li": "symgrad.api.functions",
    "ln": "symgrad.api.functions",
    "log": "symgrad.api.functions",
    "log10": "symgrad.api.functions",
    "log1p": "symgrad.api.functions",
    "log2": "symgrad.api.functions",
    "log_ndtr": "symgrad.api.functions",
    "log_softmax": "symgrad.api.arrays",
    "logaddexp": "symgrad.api.functions",
    "logdet": "symgrad.api.matrices",
    "logical_and": "symgrad.api.functions",
    "logical_not": "symgrad.api.functions",
    "logical_or": "symgrad.api.functions",
    "logical_xor": "symgrad.api.functions",
    "logit": "symgrad.api.functions",
    "logsumexp": "symgrad.api.arrays",
    "lowergamma": "symgrad.api.functions",
    "matmul": "symgrad.api.arrays",
    "matrix_power": "symgrad.api.matrices",
    "max": "symgrad.api.arrays",
    "maximum": "symgrad.api.functions",
    "mean": "symgrad.api.arrays",
    "min": "symgrad.api.arrays",
    "minimize": "symgrad.api.minimize",
    "minimum": "symgrad.api.functions",
    "mish": "symgrad.api.functions",
    "mod": "symgrad.api.functions",
    "moveaxis": "symgrad.api.layout",
    "ndtr": "symgrad.api.functions",
    "ndtri": "symgrad.api.functions",
    "norm": "symgrad.api.arrays",
    "one_hot": "symgrad.api.layout",
    "ones": "symgrad.api.layout",
    "outer": "symgrad.api.arrays",
    "parse": "symgrad.api.program",
    "pi": "symgrad.api.functions",
    "polygamma": "symgrad.api.functions",
    "polylog": "symgrad.api.functions",
    "prod": "symgrad.api.arrays",
    "reciprocal": "symgrad.api.functions",
    "register_op": "symgrad.api.own",
    "relu": "symgrad.api.functions",
    "reshape": "symgrad.api.layout",
    "round": "symgrad.api.functions",
    "row_gradient": "symgrad.api.row_gradient",
    "scatter_add": "symgrad.api.layout",
    "sec": "symgrad.api.functions",
    "sech": "symgrad.api.functions",
    "sigmoid": "symgrad.api.functions",
    "sign": "symgrad.api.functions",
    "silu": "symgrad.api.functions",
    "simplify": "symgrad.api.simplify",
    "sin": "symgrad.api.functions",
    "sinc": "symgrad.api.functions",
    "sinh": "symgrad.api.functions",
    "sinm": "symgrad.api.matrices",
    "sinm_frechet": "symgrad.api.matrices",
    "size": "symgrad.api.sizes",
    "softmax": "symgrad.api.arrays",
    "softplus": "symgrad.api.functions",
    "solve": "symgrad.api.matrices",
    "spence": "symgrad.api.functions",
    "spherical_jn": "symgrad.api.functions",
    "sqrt": "symgrad.api.functions",
    "square": "symgrad.api.functions",
    "squeeze": "symgrad.api.layout",
    "stack": "symgrad.api.layout",
    "std": "symgrad.api.arrays",
    "stop_gradient": "symgrad.api.differentiate",
    "sum": "symgrad.api.arrays",
    "swapaxes": "symgrad.api.layout",
    "swish": "symgrad.api.functions",
    "symbols": "symgrad.api.symbols",
    "take": "symgrad.api.layout",
    "take_along_axis": "symgrad.api.layout",
    "tan": "symgrad.api.functions",
    "tanh": "symgrad.api.functions",
    "tensor": "symgrad.api.symbols",
    "tensordot": "symgrad.api.arrays",
    "trace": "symgrad.api.matrices",
    "train": "symgrad.api.train",
    "transpose": "symgrad.api.layout",
    "uppergamma": "symgrad.api.functions",
    "value_and_grad": "symgrad.api.differentiate",
    "var": "symgrad.api.arrays",
    "verify": "symgrad.api.verify",
    "vjp": "symgrad.api.differentiate",
    "where": "symgrad.api.functions",
    "with_gradient": "symgrad.api.synthesis",
    "xlog1py": "symgrad.api.functions",
    "xlogy": "symgrad.api.functions",
    "yv": "symgrad.api.functions",
    "zeros": "symgrad.api.layout",
    "zeta": "symgrad.api.functions",
}

# Modules that are public as a whole.
_MODULES = ("errors",)

if TYPE_CHECKING:
    from symgrad import errors as errors
    from symgrad.api.arrays import argmax as argmax
    from symgrad.api.arrays import argmin as argmin
    from symgrad.api.arrays import cumsum as cumsum
    from symgrad.api.arrays import diag as diag
    from symgrad.api.arrays import dot as dot
    from symgrad.api.arrays import einsum as einsum
    from symgrad.api.arrays import inner as inner
    from symgrad.api.arrays import log_softmax as log_softmax
    from symgrad.api.arrays import logsumexp as logsumexp
    from symgrad.api.arrays import matmul as matmul
    from symgrad.api.arrays import max as max
    from symgrad.api.arrays import mean as mean
    from symgrad.api.arrays import min as min
    from symgrad.api.arrays import norm as norm
    from symgrad.api.arrays import outer as outer
    from symgrad.api.arrays import prod as prod
    from symgrad.api.arrays import softmax as softmax
    from symgrad.api.arrays import std as std
    from symgrad.api.arrays import sum as sum
    from symgrad.api.arrays import tensordot as tensordot
    from symgrad.api.arrays import var as var
    from symgrad.api.compile import compile as compile
    from symgrad.api.custom import custom_gradient as custom_gradient
    from symgrad.api.derivatives import Derivatives as Derivatives
    from symgrad.api.differentiate import derivatives as derivatives
    from symgrad.api.differentiate import grad as grad
    from symgrad.api.differentiate import gradients as gradients
    from symgrad.api.differentiate import jvp as jvp
    from symgrad.api.differentiate import stop_gradient as stop_gradient
    from symgrad.api.differentiate import value_and_grad as value_and_grad
    from symgrad.api.differentiate import vjp as vjp
    from symgrad.api.explain import explain as explain
    from symgrad.api.expr import Expr as Expr
    from symgrad.api.from_sympy import from_sympy as from_sympy
    from symgrad.api.functions import Chi as Chi
    from symgrad.api.functions import Ci as Ci
    from symgrad.api.functions import LambertW as LambertW
    from symgrad.api.functions import Li as Li
    from symgrad.api.functions import Shi as Shi
    from symgrad.api.functions import Si as Si
    from symgrad.api.functions import abs as abs
    from symgrad.api.functions import acos as acos
    from symgrad.api.functions import acosh as acosh
    from symgrad.api.functions import acot as acot
    from symgrad.api.functions import acoth as acoth
    from symgrad.api.functions import acsc as acsc
    from symgrad.api.functions import acsch as acsch
    from symgrad.api.functions import airyai as airyai
    from symgrad.api.functions import airyaiprime as airyaiprime
    from symgrad.api.functions import airybi as airybi
    from symgrad.api.functions import airybiprime as airybiprime
    from symgrad.api.functions import arccos as arccos
    from symgrad.api.functions import arccosh as arccosh
    from symgrad.api.functions import arcsin as arcsin
    from symgrad.api.functions import arcsinh as arcsinh
    from symgrad.api.functions import arctan as arctan
    from symgrad.api.functions import arctan2 as arctan2
    from symgrad.api.functions import arctanh as arctanh
    from symgrad.api.functions import asec as asec
    from symgrad.api.functions import asech as asech
    from symgrad.api.functions import asin as asin
    from symgrad.api.functions import asinh as asinh
    from symgrad.api.functions import atan as atan
    from symgrad.api.functions import atan2 as atan2
    from symgrad.api.functions import atanh as atanh
    from symgrad.api.functions import beta as beta
    from symgrad.api.functions import betaln as betaln
    from symgrad.api.functions import binomial as binomial
    from symgrad.api.functions import cbrt as cbrt
    from symgrad.api.functions import ceil as ceil
    from symgrad.api.functions import clip as clip
    from symgrad.api.functions import cos as cos
    from symgrad.api.functions import cosh as cosh
    from symgrad.api.functions import cot as cot
    from symgrad.api.functions import coth as coth
    from symgrad.api.functions import csc as csc
    from symgrad.api.functions import csch as csch
    from symgrad.api.functions import dawsn as dawsn
    from symgrad.api.functions import digamma as digamma
    from symgrad.api.functions import ellipe as ellipe
    from symgrad.api.functions import ellipeinc as ellipeinc
    from symgrad.api.functions import ellipk as ellipk
    from symgrad.api.functions import ellipkinc as ellipkinc
    from symgrad.api.functions import elu as elu
    from symgrad.api.functions import erf as erf
    from symgrad.api.functions import erfc as erfc
    from symgrad.api.functions import erfcinv as erfcinv
    from symgrad.api.functions import erfcx as erfcx
    from symgrad.api.functions import erfi as erfi
    from symgrad.api.functions import erfinv as erfinv
    from symgrad.api.functions import exp as exp
    from symgrad.api.functions import exp1 as exp1
    from symgrad.api.functions import exp2 as exp2
    from symgrad.api.functions import expi as expi
    from symgrad.api.functions import expint as expint
    from symgrad.api.functions import expit as expit
    from symgrad.api.functions import expm1 as expm1
    from symgrad.api.functions import factorial as factorial
    from symgrad.api.functions import floor as floor
    from symgrad.api.functions import floor_divide as floor_divide
    from symgrad.api.functions import fresnelc as fresnelc
    from symgrad.api.functions import fresnels as fresnels
    from symgrad.api.functions import gamma as gamma
    from symgrad.api.functions import gammainc as gammainc
    from symgrad.api.functions import gammaincc as gammaincc
    from symgrad.api.functions import gelu as gelu
    from symgrad.api.functions import gelu_tanh as gelu_tanh
    from symgrad.api.functions import heaviside as heaviside
    from symgrad.api.functions import huber as huber
    from symgrad.api.functions import hypot as hypot
    from symgrad.api.functions import iv as iv
    from symgrad.api.functions import ive as ive
    from symgrad.api.functions import jv as jv
    from symgrad.api.functions import kv as kv
    from symgrad.api.functions import leaky_relu as leaky_relu
    from symgrad.api.functions import lgamma as lgamma
    from symgrad.api.functions import li as li
    from symgrad.api.functions import ln as ln
    from symgrad.api.functions import log as log
    from symgrad.api.functions import log1p as log1p
    from symgrad.api.functions import log2 as log2
    from symgrad.api.functions import log10 as log10
    from symgrad.api.functions import log_ndtr as log_ndtr
    from symgrad.api.functions import logaddexp as logaddexp
    from symgrad.api.functions import logical_and as logical_and
    from symgrad.api.functions import logical_not as logical_not
    from symgrad.api.functions import logical_or as logical_or
    from symgrad.api.functions import logical_xor as logical_xor
    from symgrad.api.functions import logit as logit
    from symgrad.api.functions import lowergamma as lowergamma
    from symgrad.api.functions import maximum as maximum
    from symgrad.api.functions import minimum as minimum
    from symgrad.api.functions import mish as mish
    from symgrad.api.functions import mod as mod
    from symgrad.api.functions import ndtr as ndtr
    from symgrad.api.functions import ndtri as ndtri
    from symgrad.api.functions import pi as pi
    from symgrad.api.functions import polygamma as polygamma
    from symgrad.api.functions import polylog as polylog
    from symgrad.api.functions import reciprocal as reciprocal
    from symgrad.api.functions import relu as relu
    from symgrad.api.functions import round as round
    from symgrad.api.functions import sec as sec
    from symgrad.api.functions import sech as sech
    from symgrad.api.functions import sigmoid as sigmoid
    from symgrad.api.functions import sign as sign
    from symgrad.api.functions import silu as silu
    from symgrad.api.functions import sin as sin
    from symgrad.api.functions import sinc as sinc
    from symgrad.api.functions import sinh as sinh
    from symgrad.api.functions import softplus as softplus
    from symgrad.api.functions import spence as spence
    from symgrad.api.functions import spherical_jn as spherical_jn
    from symgrad.api.functions import sqrt as sqrt
    from symgrad.api.functions import square as square
    from symgrad.api.functions import swish as swish
    from symgrad.api.functions import tan as tan
    from symgrad.api.functions import tanh as tanh
    from symgrad.api.functions import uppergamma as uppergamma
    from symgrad.api.functions import where as where
    from symgrad.api.functions import xlog1py as xlog1py
    from symgrad.api.functions import xlogy as xlogy
    from symgrad.api.functions import yv as yv
    from symgrad.api.functions import zeta as zeta
    from symgrad.api.gaps import check_domain as check_domain
    from symgrad.api.implicit import implicit as implicit
    from symgrad.api.jacobians import batch_jacobian as batch_jacobian
    from symgrad.api.jacobians import hessian as hessian
    from symgrad.api.jacobians import hvp as hvp
    from symgrad.api.jacobians import jacobian as jacobian
    from symgrad.api.layout import arange as arange
    from symgrad.api.layout import broadcast_to as broadcast_to
    from symgrad.api.layout import concatenate as concatenate
    from symgrad.api.layout import expand_dims as expand_dims
    from symgrad.api.layout import eye as eye
    from symgrad.api.layout import flip as flip
    from symgrad.api.layout import full as full
    from symgrad.api.layout import moveaxis as moveaxis
    from symgrad.api.layout import one_hot as one_hot
    from symgrad.api.layout import ones as ones
    from symgrad.api.layout import reshape as reshape
    from symgrad.api.layout import scatter_add as scatter_add
    from symgrad.api.layout import squeeze as squeeze
    from symgrad.api.layout import stack as stack
    from symgrad.api.layout import swapaxes as swapaxes
    from symgrad.api.layout import take as take
    from symgrad.api.layout import take_along_axis as take_along_axis
    from symgrad.api.layout import transpose as transpose
    from symgrad.api.layout import zeros as zeros
    from symgrad.api.matrices import cosm as cosm
    from symgrad.api.matrices import cosm_frechet as cosm_frechet
    from symgrad.api.matrices import det as det
    from symgrad.api.matrices import expm as expm
    from symgrad.api.matrices import expm_frechet as expm_frechet
    from symgrad.api.matrices import inv as inv
    from symgrad.api.matrices import kron as kron
    from symgrad.api.matrices import logdet as logdet
    from symgrad.api.matrices import matrix_power as matrix_power
    from symgrad.api.matrices import sinm as sinm
    from symgrad.api.matrices import sinm_frechet as sinm_frechet
    from symgrad.api.matrices import solve as solve
    from symgrad.api.matrices import trace as trace
    from symgrad.api.minimize import Minimum as Minimum
    from symgrad.api.minimize import minimize as minimize
    from symgrad.api.own import register_op as register_op
    from symgrad.api.program import Program as Program
    from symgrad.api.program import parse as parse
    from symgrad.api.row_gradient import RowGradient as RowGradient
    from symgrad.api.row_gradient import row_gradient as row_gradient
    from symgrad.api.simplify import simplify as simplify
    from symgrad.api.sizes import size as size
    from symgrad.api.symbols import symbols as symbols
    from symgrad.api.symbols import tensor as tensor
    from symgrad.api.synthesis import ignore_noise as ignore_noise
    from symgrad.api.synthesis import with_gradient as with_gradient
    from symgrad.api.train import Training as Training
    from symgrad.api.train import train as train
    from symgrad.api.unknowns import Implicit as Implicit
    from symgrad.api.verify import equal as equal
    from symgrad.api.verify import verify as verify
    from symgrad.kernel.kernel import Kernel as Kernel
    from symgrad.verify.verdict import Verdict as Verdict


if not TYPE_CHECKING:  # to a checker there are no other names than those above

    def __getattr__(name: str) -> object:
        if name in _PUBLIC:
            value: object = getattr(import_module(_PUBLIC[name]), name)
            globals()[name] = value
            return value
        if name in _MODULES:
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    # What `from symgrad import *` takes: all but what would hide Python's own functions, such as sum and abs.
    __all__ = [*(name for name in _PUBLIC if not hasattr(builtins, name)), *_MODULES]


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC, *_MODULES})


class _Package(ModuleType):
    """Keeps a public function visible where a subpackage has the same name."""

    def __setattr__(self, name: str, value: object) -> None:
        # Importing symgrad.explain binds the subpackage on this module, whoever imports it first; without this,
        # symgrad.explain(...) would be a call of a module from then on.
        if not (name in _PUBLIC and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
