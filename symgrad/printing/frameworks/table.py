"""The names of elementwise operations in JAX, torch, TensorFlow and Keras: each op is a row.

Values are those of the frameworks' own functions. An entry is a function that is equal to the op everywhere on its
domain, or None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Framework:
    """The templates of a framework for everything except elementwise functions.

    Attributes:
        title: the name of the framework in sentences.
        imports: the lines that import the framework.
        modules: the names that these lines bind.
        array: the module of functions of arrays; ``elementwise``: the module of elementwise functions.
        stop: a value as a constant.
        axis: the keyword for axes.
        size: the length of an axis.
        setup: the line that takes the dtype (and the device) of new arrays from an input; ``none``: the same line if
            there is no input.
        number: a number as an array of this dtype; ``whole``: an integer as an array.
        cast: an array converted to this dtype; ``cast_whole``: an array converted to the dtype of integers.
        full: an array of a shape that is filled with one number; ``arange``: an array of integers; ``eye``: an identity
            matrix of this dtype.
    """

    title: str
    imports: str
    modules: tuple[str, ...]
    array: str
    elementwise: str
    stop: str
    axis: str
    size: str
    setup: str
    none: str
    number: str
    whole: str
    cast: str
    cast_whole: str
    full: str
    arange: str
    eye: str


FRAMEWORK: Mapping[str, Framework] = {
    "jax": Framework(
        title="JAX",
        imports="import jax\nimport jax.numpy as jnp",
        modules=("jax", "jnp"),
        array="jnp",
        elementwise="jnp",
        stop="jax.lax.stop_gradient({0})",
        axis="axis",
        size="{0}.shape[{1}]",
        setup="dtype = jnp.result_type({0})",
        none="dtype = jnp.result_type(float)",
        number="jnp.asarray({0}, dtype)",
        whole="jnp.asarray({0})",
        cast="jnp.asarray({0}, dtype)",
        cast_whole="jnp.asarray({0}, int)",
        full="jnp.full({0}, {1}, dtype)",
        arange="jnp.arange({0})",
        eye="jnp.eye({0}, dtype=dtype)",
    ),
    "torch": Framework(
        title="torch",
        imports="import torch",
        modules=("torch",),
        array="torch",
        elementwise="torch",
        stop="{0:a}.detach()",
        axis="dim",
        size="{0}.shape[{1}]",
        setup='like = {{"dtype": {0}.dtype, "device": {0}.device}}',
        none='like = {{"dtype": torch.get_default_dtype(), "device": torch.get_default_device()}}',
        number="torch.tensor({0}, **like)",
        whole='torch.tensor({0}, device=like["device"])',
        cast='{0:a}.to(like["dtype"])',
        cast_whole="{0:a}.to(torch.int64)",
        full="torch.full({0}, {1}, **like)",
        arange='torch.arange({0}, device=like["device"])',
        eye="torch.eye({0}, **like)",
    ),
    "tensorflow": Framework(
        title="TensorFlow",
        imports="import tensorflow as tf",
        modules=("tf",),
        array="tf",
        elementwise="tf.math",
        stop="tf.stop_gradient({0})",
        axis="axis",
        size="tf.shape({0}, tf.int64)[{1}]",
        setup="dtype = {0}.dtype",
        none="dtype = tf.float32",
        number="tf.constant({0}, dtype)",
        whole="tf.constant({0}, tf.int64)",
        cast="tf.cast({0}, dtype)",
        cast_whole="tf.cast({0}, tf.int64)",
        full="tf.fill({0}, tf.constant({1}, dtype))",
        arange="tf.range(tf.cast({0}, tf.int64))",
        eye="tf.eye({0}, dtype=dtype)",
    ),
    "keras": Framework(
        title="Keras",
        imports="import keras\nfrom keras import ops",
        modules=("keras", "ops"),
        array="ops",
        elementwise="ops",
        stop="ops.stop_gradient({0})",
        axis="axis",
        size="ops.shape({0})[{1}]",
        setup="dtype = keras.backend.standardize_dtype({0}.dtype)",
        none="dtype = keras.config.floatx()",
        number="ops.convert_to_tensor({0}, dtype)",  # cast makes it float32 first
        whole='ops.cast({0}, "int32")',
        cast="ops.cast({0}, dtype)",
        cast_whole='ops.cast({0}, "int32")',
        full="ops.full({0}, {1}, dtype)",
        arange='ops.arange({0}, dtype="int32")',
        eye="ops.eye({0}, dtype=dtype)",
    ),
}
"""By name."""

# Templates of JAX, torch, TensorFlow and Keras, in this order, or one for all four. {m} is the module of elementwise
# functions, {np} the module of arrays, {0:a} an argument next to an operator or a dot, {0:t} an argument that must not
# be a Python number, {p} the parameter of the op.
_Row = str | tuple[str | None, str | None, str | None, str | None]


def _named(name: str, numpy: str | None = None) -> _Row:
    """Return the row of a function of one number, under NumPy's name in JAX and Keras."""
    other = f"{{m}}.{numpy or name}({{0}})"
    return (other, f"{{m}}.{name}({{0}})", f"{{m}}.{name}({{0}})", other)


def _of_inverse(name: str) -> _Row:
    """Return the row of an inverse function, applied to 1/x.

    Its name begins with ``arc`` in NumPy, and with ``a`` in other libraries.
    """
    numpy, plain = (f"{{m}}.{word}{name}(1/{{0:a}})" for word in ("arc", "a"))
    return (numpy, plain, plain, numpy)


def _masked(sign: str) -> _Row:
    """Return the row of an op that chooses between a value and an infinity."""
    other = f'{{np}}.where({{0}}, {{1:t}}, {sign}float("inf"))'
    return (f"jnp.where({{0}}, {{1:t}}, {sign}jnp.inf)", other, other, other)


_TABLE: Mapping[str, _Row] = {
    **{
        name: _named(name)
        for name in (
            *("abs", "ceil", "cos", "cosh", "exp", "expm1", "floor", "log"),
            *("log1p", "round", "sin", "sinh", "sqrt", "tan", "tanh"),
        )
    },
    **{
        f"a{name}": _named(f"a{name}", f"arc{name}") for name in ["cos", "cosh", "sin", "sinh", "tan", "tanh"]
    },
    "sign": ("jnp.sign({0})", "_sign({0})", "tf.math.sign({0})", "_sign({0})"),
    "atan2": (
        "jnp.arctan2({0}, {1})",
        "torch.atan2({0:t}, {1:t})",
        "tf.math.atan2({0:t}, {1:t})",
        "ops.arctan2({0:t}, {1:t})",
    ),
    "maximum": "{m}.maximum({0:t}, {1:t})",
    "minimum": "{m}.minimum({0:t}, {1:t})",
    "clip": "{m}.minimum({m}.maximum({0:t}, {1:t}), {2:t})",
    "where": "{np}.where({0}, {1:t}, {2:t})",
    "where_minus_oo": _masked("-"),
    "where_plus_oo": _masked(""),
    "relu": ("jax.nn.relu({0})", "torch.relu({0})", "tf.nn.relu({0})", "ops.relu({0})"),
    "sigmoid": ("jax.nn.sigmoid({0})", "torch.sigmoid({0})", "tf.math.sigmoid({0})", "ops.sigmoid({0})"),
    # beyond a threshold, torch's and Keras' functions are the identity, and their second derivatives lose digits
    "softplus": (
        "jax.nn.softplus({0})",
        "torch.logaddexp({0}, torch.zeros_like({0}))",
        "tf.math.softplus({0})",
        "ops.logaddexp({0}, ops.zeros_like({0}))",
    ),
    "hypot": (
        "jnp.hypot({0:t}, {1:t})",
        "torch.hypot({0:t}, {1:t})",
        "_hypot({0:t}, {1:t})",
        "ops.hypot({0:t}, {1:t})",
    ),
    "cbrt": ("jnp.cbrt({0})", None, None, "ops.cbrt({0})"),
    "exp2": ("jnp.exp2({0})", "torch.exp2({0})", "2**{0:a}", "ops.exp2({0})"),
    "log2": ("jnp.log2({0})", "torch.log2({0})", "(tf.math.log({0})/0.6931471805599453)", "ops.log2({0})"),
    "log10": ("jnp.log10({0})", "torch.log10({0})", "(tf.math.log({0})/2.302585092994046)", "ops.log10({0})"),
    # Reciprocals.
    "cot": "(1/{m}.tan({0}))",
    "sec": "(1/{m}.cos({0}))",
    "csc": "(1/{m}.sin({0}))",
    "coth": "(1/{m}.tanh({0}))",
    "sech": "(1/{m}.cosh({0}))",
    "csch": "(1/{m}.sinh({0}))",
    "acot": _of_inverse("tan"),
    "acoth": _of_inverse("tanh"),
    "acsc": _of_inverse("sin"),
    "acsch": _of_inverse("sinh"),
    "asec": _of_inverse("cos"),
    "asech": _of_inverse("cosh"),
    # Special functions.
    "erf": ("jax.scipy.special.erf({0})", "torch.erf({0})", "_erf({0})", "ops.erf({0})"),
    "erfc": ("jax.scipy.special.erfc({0})", "torch.erfc({0})", "tf.math.erfc({0})", "ops.erfc({0})"),
    "erfinv": (
        "jax.scipy.special.erfinv({0})",
        "torch.erfinv({0})",
        "tf.math.erfinv({0})",
        "ops.erfinv({0})",
    ),
    "lgamma": ("jax.scipy.special.gammaln({0})", "torch.lgamma({0})", "tf.math.lgamma({0})", None),
    "gamma": ("jax.scipy.special.gamma({0})", None, None, None),
    "digamma": ("jax.scipy.special.digamma({0})", "torch.digamma({0})", "tf.math.digamma({0})", None),
    "log_ndtr": ("jax.scipy.special.log_ndtr({0})", "torch.special.log_ndtr({0})", None, None),
    "erfcx": (None, "torch.special.erfcx({0})", None, None),
    "sinc": ("jnp.sinc({0})", "torch.sinc({0})", None, "ops.sinc({0})"),
    "expi": ("jax.scipy.special.expi({0})", None, None, None),
    "dawsn": (None, None, "tf.math.special.dawsn({0})", None),
    "fresnels": (None, None, "tf.math.special.fresnel_sin({0})", None),
    "fresnelc": (None, None, "tf.math.special.fresnel_cos({0})", None),
    "polygamma": (
        "jax.scipy.special.polygamma({p}, {0})",
        "torch.polygamma({p}, {0})",
        "tf.math.polygamma(tf.constant({p}, {0:a}.dtype), {0})",
        None,
    ),
    "zeta": (
        "jax.scipy.special.zeta({0:t}, {1:t})",
        "torch.special.zeta({0:t}, {1:t})",
        "tf.math.zeta({0:t}, {1:t})",
        None,
    ),
    "with_slope": "_with_slope({0:t}, {1:t}, {2:t})",
}
SPELLED: Mapping[str, Mapping[str, str]] = {
    name: {op: text for op, row in _TABLE.items() if (text := row if isinstance(row, str) else row[k])}
    for k, name in enumerate(FRAMEWORK)
}
"""By framework, then by op."""


def spelling(op: str, framework: str) -> str | None:
    """Return the template of an elementwise op in a framework; None if it has none.

    Example:
        >>> spelling("asin", "jax"), spelling("asin", "torch"), spelling("dawsn", "keras")
        ('jnp.arcsin({0})', 'torch.asin({0})', None)
    """
    text, known = SPELLED[framework].get(op), FRAMEWORK[framework]
    return None if text is None else text.replace("{m}", known.elementwise).replace("{np}", known.array)
