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
from typing import TYPE_CHECKING

from symgrad.surface import MODULES as _MODULES
from symgrad.surface import PUBLIC as _PUBLIC
from symgrad.surface import public as _public

__version__ = "0.1.0"

# What type checkers see of the table in `surface.py`; a test holds the two together.
if TYPE_CHECKING:
    from symgrad import errors as errors
    from symgrad.api.claims.verify import equal as equal
    from symgrad.api.claims.verify import verify as verify
    from symgrad.api.derivatives.custom import custom_gradient as custom_gradient
    from symgrad.api.derivatives.differentiate import derivatives as derivatives
    from symgrad.api.derivatives.differentiate import grad as grad
    from symgrad.api.derivatives.differentiate import gradients as gradients
    from symgrad.api.derivatives.differentiate import jvp as jvp
    from symgrad.api.derivatives.differentiate import stop_gradient as stop_gradient
    from symgrad.api.derivatives.differentiate import value_and_grad as value_and_grad
    from symgrad.api.derivatives.differentiate import vjp as vjp
    from symgrad.api.derivatives.implicit import implicit as implicit
    from symgrad.api.derivatives.jacobians import batch_jacobian as batch_jacobian
    from symgrad.api.derivatives.jacobians import hessian as hessian
    from symgrad.api.derivatives.jacobians import hvp as hvp
    from symgrad.api.derivatives.jacobians import jacobian as jacobian
    from symgrad.api.derivatives.partials import Derivatives as Derivatives
    from symgrad.api.derivatives.row_gradient import RowGradient as RowGradient
    from symgrad.api.derivatives.row_gradient import row_gradient as row_gradient
    from symgrad.api.derivatives.synthesis import ignore_noise as ignore_noise
    from symgrad.api.derivatives.synthesis import with_gradient as with_gradient
    from symgrad.api.derivatives.unknowns import Implicit as Implicit
    from symgrad.api.explain import explain as explain
    from symgrad.api.functions.arrays import argmax as argmax
    from symgrad.api.functions.arrays import argmin as argmin
    from symgrad.api.functions.arrays import cumsum as cumsum
    from symgrad.api.functions.arrays import diag as diag
    from symgrad.api.functions.arrays import dot as dot
    from symgrad.api.functions.arrays import einsum as einsum
    from symgrad.api.functions.arrays import inner as inner
    from symgrad.api.functions.arrays import log_softmax as log_softmax
    from symgrad.api.functions.arrays import logsumexp as logsumexp
    from symgrad.api.functions.arrays import matmul as matmul
    from symgrad.api.functions.arrays import max as max
    from symgrad.api.functions.arrays import mean as mean
    from symgrad.api.functions.arrays import min as min
    from symgrad.api.functions.arrays import norm as norm
    from symgrad.api.functions.arrays import outer as outer
    from symgrad.api.functions.arrays import prod as prod
    from symgrad.api.functions.arrays import softmax as softmax
    from symgrad.api.functions.arrays import std as std
    from symgrad.api.functions.arrays import sum as sum
    from symgrad.api.functions.arrays import tensordot as tensordot
    from symgrad.api.functions.arrays import var as var
    from symgrad.api.functions.elementary import Chi as Chi
    from symgrad.api.functions.elementary import Ci as Ci
    from symgrad.api.functions.elementary import LambertW as LambertW
    from symgrad.api.functions.elementary import Li as Li
    from symgrad.api.functions.elementary import Shi as Shi
    from symgrad.api.functions.elementary import Si as Si
    from symgrad.api.functions.elementary import abs as abs
    from symgrad.api.functions.elementary import acos as acos
    from symgrad.api.functions.elementary import acosh as acosh
    from symgrad.api.functions.elementary import acot as acot
    from symgrad.api.functions.elementary import acoth as acoth
    from symgrad.api.functions.elementary import acsc as acsc
    from symgrad.api.functions.elementary import acsch as acsch
    from symgrad.api.functions.elementary import airyai as airyai
    from symgrad.api.functions.elementary import airyaiprime as airyaiprime
    from symgrad.api.functions.elementary import airybi as airybi
    from symgrad.api.functions.elementary import airybiprime as airybiprime
    from symgrad.api.functions.elementary import arccos as arccos
    from symgrad.api.functions.elementary import arccosh as arccosh
    from symgrad.api.functions.elementary import arcsin as arcsin
    from symgrad.api.functions.elementary import arcsinh as arcsinh
    from symgrad.api.functions.elementary import arctan as arctan
    from symgrad.api.functions.elementary import arctan2 as arctan2
    from symgrad.api.functions.elementary import arctanh as arctanh
    from symgrad.api.functions.elementary import asec as asec
    from symgrad.api.functions.elementary import asech as asech
    from symgrad.api.functions.elementary import asin as asin
    from symgrad.api.functions.elementary import asinh as asinh
    from symgrad.api.functions.elementary import atan as atan
    from symgrad.api.functions.elementary import atan2 as atan2
    from symgrad.api.functions.elementary import atanh as atanh
    from symgrad.api.functions.elementary import beta as beta
    from symgrad.api.functions.elementary import betaln as betaln
    from symgrad.api.functions.elementary import binomial as binomial
    from symgrad.api.functions.elementary import cbrt as cbrt
    from symgrad.api.functions.elementary import ceil as ceil
    from symgrad.api.functions.elementary import clip as clip
    from symgrad.api.functions.elementary import cos as cos
    from symgrad.api.functions.elementary import cosh as cosh
    from symgrad.api.functions.elementary import cot as cot
    from symgrad.api.functions.elementary import coth as coth
    from symgrad.api.functions.elementary import csc as csc
    from symgrad.api.functions.elementary import csch as csch
    from symgrad.api.functions.elementary import dawsn as dawsn
    from symgrad.api.functions.elementary import digamma as digamma
    from symgrad.api.functions.elementary import ellipe as ellipe
    from symgrad.api.functions.elementary import ellipeinc as ellipeinc
    from symgrad.api.functions.elementary import ellipk as ellipk
    from symgrad.api.functions.elementary import ellipkinc as ellipkinc
    from symgrad.api.functions.elementary import elu as elu
    from symgrad.api.functions.elementary import erf as erf
    from symgrad.api.functions.elementary import erfc as erfc
    from symgrad.api.functions.elementary import erfcinv as erfcinv
    from symgrad.api.functions.elementary import erfcx as erfcx
    from symgrad.api.functions.elementary import erfi as erfi
    from symgrad.api.functions.elementary import erfinv as erfinv
    from symgrad.api.functions.elementary import exp as exp
    from symgrad.api.functions.elementary import exp1 as exp1
    from symgrad.api.functions.elementary import exp2 as exp2
    from symgrad.api.functions.elementary import expi as expi
    from symgrad.api.functions.elementary import expint as expint
    from symgrad.api.functions.elementary import expit as expit
    from symgrad.api.functions.elementary import expm1 as expm1
    from symgrad.api.functions.elementary import factorial as factorial
    from symgrad.api.functions.elementary import floor as floor
    from symgrad.api.functions.elementary import floor_divide as floor_divide
    from symgrad.api.functions.elementary import fresnelc as fresnelc
    from symgrad.api.functions.elementary import fresnels as fresnels
    from symgrad.api.functions.elementary import gamma as gamma
    from symgrad.api.functions.elementary import gammainc as gammainc
    from symgrad.api.functions.elementary import gammaincc as gammaincc
    from symgrad.api.functions.elementary import gelu as gelu
    from symgrad.api.functions.elementary import gelu_tanh as gelu_tanh
    from symgrad.api.functions.elementary import heaviside as heaviside
    from symgrad.api.functions.elementary import huber as huber
    from symgrad.api.functions.elementary import hypot as hypot
    from symgrad.api.functions.elementary import iv as iv
    from symgrad.api.functions.elementary import ive as ive
    from symgrad.api.functions.elementary import jv as jv
    from symgrad.api.functions.elementary import kv as kv
    from symgrad.api.functions.elementary import leaky_relu as leaky_relu
    from symgrad.api.functions.elementary import lgamma as lgamma
    from symgrad.api.functions.elementary import li as li
    from symgrad.api.functions.elementary import ln as ln
    from symgrad.api.functions.elementary import log as log
    from symgrad.api.functions.elementary import log1p as log1p
    from symgrad.api.functions.elementary import log2 as log2
    from symgrad.api.functions.elementary import log10 as log10
    from symgrad.api.functions.elementary import log_ndtr as log_ndtr
    from symgrad.api.functions.elementary import logaddexp as logaddexp
    from symgrad.api.functions.elementary import logical_and as logical_and
    from symgrad.api.functions.elementary import logical_not as logical_not
    from symgrad.api.functions.elementary import logical_or as logical_or
    from symgrad.api.functions.elementary import logical_xor as logical_xor
    from symgrad.api.functions.elementary import logit as logit
    from symgrad.api.functions.elementary import lowergamma as lowergamma
    from symgrad.api.functions.elementary import maximum as maximum
    from symgrad.api.functions.elementary import minimum as minimum
    from symgrad.api.functions.elementary import mish as mish
    from symgrad.api.functions.elementary import mod as mod
    from symgrad.api.functions.elementary import ndtr as ndtr
    from symgrad.api.functions.elementary import ndtri as ndtri
    from symgrad.api.functions.elementary import pi as pi
    from symgrad.api.functions.elementary import polygamma as polygamma
    from symgrad.api.functions.elementary import polylog as polylog
    from symgrad.api.functions.elementary import reciprocal as reciprocal
    from symgrad.api.functions.elementary import relu as relu
    from symgrad.api.functions.elementary import round as round
    from symgrad.api.functions.elementary import sec as sec
    from symgrad.api.functions.elementary import sech as sech
    from symgrad.api.functions.elementary import sigmoid as sigmoid
    from symgrad.api.functions.elementary import sign as sign
    from symgrad.api.functions.elementary import silu as silu
    from symgrad.api.functions.elementary import sin as sin
    from symgrad.api.functions.elementary import sinc as sinc
    from symgrad.api.functions.elementary import sinh as sinh
    from symgrad.api.functions.elementary import softplus as softplus
    from symgrad.api.functions.elementary import spence as spence
    from symgrad.api.functions.elementary import spherical_jn as spherical_jn
    from symgrad.api.functions.elementary import sqrt as sqrt
    from symgrad.api.functions.elementary import square as square
    from symgrad.api.functions.elementary import swish as swish
    from symgrad.api.functions.elementary import tan as tan
    from symgrad.api.functions.elementary import tanh as tanh
    from symgrad.api.functions.elementary import uppergamma as uppergamma
    from symgrad.api.functions.elementary import where as where
    from symgrad.api.functions.elementary import xlog1py as xlog1py
    from symgrad.api.functions.elementary import xlogy as xlogy
    from symgrad.api.functions.elementary import yv as yv
    from symgrad.api.functions.elementary import zeta as zeta
    from symgrad.api.functions.from_sympy import from_sympy as from_sympy
    from symgrad.api.functions.layout import arange as arange
    from symgrad.api.functions.layout import broadcast_to as broadcast_to
    from symgrad.api.functions.layout import concatenate as concatenate
    from symgrad.api.functions.layout import expand_dims as expand_dims
    from symgrad.api.functions.layout import eye as eye
    from symgrad.api.functions.layout import flip as flip
    from symgrad.api.functions.layout import full as full
    from symgrad.api.functions.layout import moveaxis as moveaxis
    from symgrad.api.functions.layout import one_hot as one_hot
    from symgrad.api.functions.layout import ones as ones
    from symgrad.api.functions.layout import pad as pad
    from symgrad.api.functions.layout import reshape as reshape
    from symgrad.api.functions.layout import scatter_add as scatter_add
    from symgrad.api.functions.layout import size as size
    from symgrad.api.functions.layout import squeeze as squeeze
    from symgrad.api.functions.layout import stack as stack
    from symgrad.api.functions.layout import swapaxes as swapaxes
    from symgrad.api.functions.layout import take as take
    from symgrad.api.functions.layout import take_along_axis as take_along_axis
    from symgrad.api.functions.layout import transpose as transpose
    from symgrad.api.functions.layout import zeros as zeros
    from symgrad.api.functions.matrices import cosm as cosm
    from symgrad.api.functions.matrices import cosm_frechet as cosm_frechet
    from symgrad.api.functions.matrices import det as det
    from symgrad.api.functions.matrices import expm as expm
    from symgrad.api.functions.matrices import expm_frechet as expm_frechet
    from symgrad.api.functions.matrices import inv as inv
    from symgrad.api.functions.matrices import kron as kron
    from symgrad.api.functions.matrices import logdet as logdet
    from symgrad.api.functions.matrices import matrix_power as matrix_power
    from symgrad.api.functions.matrices import sinm as sinm
    from symgrad.api.functions.matrices import sinm_frechet as sinm_frechet
    from symgrad.api.functions.matrices import solve as solve
    from symgrad.api.functions.matrices import trace as trace
    from symgrad.api.functions.own import register_op as register_op
    from symgrad.api.functions.symbols import symbols as symbols
    from symgrad.api.functions.symbols import tensor as tensor
    from symgrad.api.gaps import check_domain as check_domain
    from symgrad.api.handles.expr import Expr as Expr
    from symgrad.api.handles.program import Program as Program
    from symgrad.api.handles.program import parse as parse
    from symgrad.api.kernels.compile import compile as compile
    from symgrad.api.kernels.over_data import OverData as OverData
    from symgrad.api.kernels.over_data import over_data as over_data
    from symgrad.api.simplify import simplify as simplify
    from symgrad.api.training.minimize import Minimum as Minimum
    from symgrad.api.training.minimize import minimize as minimize
    from symgrad.api.training.train import Training as Training
    from symgrad.api.training.train import train as train
    from symgrad.export.dask import to_dask as to_dask
    from symgrad.export.jax import to_jax as to_jax
    from symgrad.export.keras import to_keras as to_keras
    from symgrad.export.tensorflow import to_tensorflow as to_tensorflow
    from symgrad.export.torch import to_torch as to_torch
    from symgrad.importers.jax.function import from_jax as from_jax
    from symgrad.importers.tensorflow.function import from_tensorflow as from_tensorflow
    from symgrad.importers.torch.function import from_torch as from_torch
    from symgrad.kernel.kernel import Kernel as Kernel
    from symgrad.verdicts.verdict import Verdict as Verdict


if not TYPE_CHECKING:  # to a checker there are no other names than those above

    def __getattr__(name: str) -> object:
        if name in _PUBLIC:
            value: object = _public(name)
            globals()[name] = value
            return value
        if name in _MODULES:
            return import_module(f"{__name__}.{name}")
        said = f"module {__name__!r} has no attribute {name!r}"
        if not name.startswith("_"):  # else it is what Python and libraries look for
            said += import_module("symgrad.api.habits").no_function(name)
        raise AttributeError(said, name=name, obj=sys.modules[__name__])

    # What `from symgrad import *` takes: all but what would hide Python's own functions, such as sum and abs.
    # What belongs to a framework is asked for by name: a star imports none of them.
    __all__ = [n for n, room in _PUBLIC.items() if not hasattr(builtins, n) and ".export." not in room]
    __all__ += [n for n in _MODULES if n not in __all__]


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC, *_MODULES})
