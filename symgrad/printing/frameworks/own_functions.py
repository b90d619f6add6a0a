"""Functions that source for a framework defines, because the framework has no such function."""

from __future__ import annotations

from collections.abc import Mapping

# These texts are shared: {xp} is the module of arrays, {axis} its keyword for axes.
_PROD_EXCEPT = """\
def _prod_except(x, axis):
    x = {xp}.moveaxis(x, axis, -1)
    one = {xp}.ones_like(x[..., :1])
    before = {xp}.cumprod({xp}.concatenate([one, x[..., :-1]], -1), -1)
    after = {xp}.cumprod({xp}.concatenate([one, {flip}[..., :-1]], -1), -1)
    return {xp}.moveaxis(before*{back}, -1, axis)
"""
_BLOCK = """\
def _block(a, b, c, d):
    return {join}([{join}([a, b], -1), {join}([c, d], -1)], -2)
"""
_EXPM = """\
def _expm(x):
    return {expm}(x)
"""
# The exponential of [[x, e], [0, x]] contains that of x and, beside it, its derivative in the direction e (Van Loan
# 1978); the exponential of [[0, -x], [x, 0]] is [[cos(x), -sin(x)], [sin(x), cos(x)]].
_EXPM_FRECHET = """\
def _expm_frechet(x, e):
    n = x.shape[-1]
    return _expm(_block(x, e, 0*x, x))[..., :n, n:]
"""
_COSM = """\
def _{name}(x):
    n = x.shape[-1]
    return _expm(_block(0*x, -x, x, 0*x))[..., {rows}, :n]
"""
_COSM_FRECHET = """\
def _{name}_frechet(x, e):
    n = x.shape[-1]
    return _expm_frechet(_block(0*x, -x, x, 0*x), _block(0*e, -e, e, 0*e))[..., {rows}, :n]
"""
_TRIGONOMETRIC = {
    f"_{name}{suffix}": text.format(name=name, rows=rows)
    for suffix, text in (("", _COSM), ("_frechet", _COSM_FRECHET))
    for name, rows in (("cosm", ":n"), ("sinm", "n:"))
}
NEEDS: Mapping[str, tuple[str, ...]] = {
    "_with_slope": ("_with_pullback",),
    "_expm_frechet": ("_expm", "_block"),
    "_cosm": ("_expm", "_block"),
    "_sinm": ("_expm", "_block"),
    "_cosm_frechet": ("_expm", "_block", "_expm_frechet"),
    "_sinm_frechet": ("_expm", "_block", "_expm_frechet"),
    "_gather": ("_flat",),
    "_scatter_add": ("_flat",),
}
"""For each helper those that it calls, if its framework has them."""


def _matrices(expm: str, join: str) -> dict[str, str]:
    return {
        "_expm": _EXPM.format(expm=expm),
        "_block": _BLOCK.format(join=join),
        "_expm_frechet": _EXPM_FRECHET,
        **_TRIGONOMETRIC,
    }


_JAX = {
    "_with_slope": """\
@jax.custom_jvp
def _with_slope(x, y, z):
    \"\"\"x as a value, with the derivatives of x and, as the derivative by y, z.\"\"\"
    shape = jnp.broadcast_shapes(jnp.shape(x), jnp.shape(y), jnp.shape(z))
    return jnp.broadcast_to(x, shape)


@_with_slope.defjvp
def _(values, tangents):
    x, y, z = values
    x_dot, y_dot, _ = tangents
    return _with_slope(x, y, z), x_dot + z*y_dot
""",
    "_prod_except": _PROD_EXCEPT.format(xp="jnp", flip="jnp.flip(x, -1)", back="jnp.flip(after, -1)"),
    "_gather": """\
def _gather(x, axes, *indices):
    rows = jnp.moveaxis(x, axes, tuple(range(len(axes))))[indices]
    depth = max(jnp.ndim(i) for i in indices)
    return jnp.moveaxis(rows, tuple(range(depth)), tuple(range(axes[0], axes[0] + depth)))
""",
    "_scatter_add": """\
def _scatter_add(values, axes, shape, *indices):
    depth, front = max(jnp.ndim(i) for i in indices), tuple(range(len(axes)))
    values = jnp.moveaxis(values, tuple(range(axes[0], axes[0] + depth)), tuple(range(depth)))
    zeros = jnp.moveaxis(jnp.zeros(shape, values.dtype), axes, front)
    return jnp.moveaxis(zeros.at[indices].add(values), front, axes)
""",
    **_matrices("jax.scipy.linalg.expm", "jnp.concatenate"),
}
_TORCH = {
    "_sign": """\
def _sign(x):
    return torch.where(x == x, torch.sign(x), x)  # torch's of NaN is 0
""",
    "_with_slope": """\
class _WithSlope(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, y, z):
        return x.clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[2])
        ctx.save_for_forward(inputs[2])

    @staticmethod
    def backward(ctx, v):
        return v, v*ctx.saved_tensors[0], None

    @staticmethod
    def jvp(ctx, x_dot, y_dot, _):
        pushed = None if y_dot is None else ctx.saved_tensors[0]*y_dot
        return pushed if x_dot is None else x_dot if pushed is None else x_dot + pushed


def _with_slope(x, y, z):
    \"\"\"x as a value, with the derivatives of x and, as the derivative by y, z.\"\"\"
    return _WithSlope.apply(*torch.broadcast_tensors(x, y, z))
""",
    "_prod_except": _PROD_EXCEPT.format(
        xp="torch", flip="torch.flip(x, (-1,))", back="torch.flip(after, (-1,))"
    ),
    "_unslice": """\
def _unslice(x, key, shape):
    result = x.new_zeros(shape)
    result[key] = x
    return result
""",
    "_gather": """\
def _gather(x, axes, *indices):
    rows = x.movedim(axes, tuple(range(len(axes))))[indices]
    depth = max(torch.as_tensor(i).ndim for i in indices)
    return rows.movedim(tuple(range(depth)), tuple(range(axes[0], axes[0] + depth)))
""",
    "_scatter_add": """\
def _scatter_add(values, axes, shape, *indices):
    indices = tuple(torch.as_tensor(i, device=values.device) for i in indices)
    depth, front = max(i.ndim for i in indices), tuple(range(len(axes)))
    values = values.movedim(tuple(range(axes[0], axes[0] + depth)), tuple(range(depth)))
    zeros = values.new_zeros(shape).movedim(axes, front)
    return zeros.index_put(indices, values, accumulate=True).movedim(front, axes)
""",
    **_matrices("torch.linalg.matrix_exp", "torch.concatenate"),
}
# Positions along several axes become one position, since TensorFlow and Keras gather along one axis.
_FLAT = """\
def _flat(indices, sizes):
    flat = 0
    for index, size in zip(indices, sizes):
        index = {whole}
        flat = flat*size + {where}(index < 0, index + size, index)
    return flat
"""
_GATHER = """\
def _gather(x, axes, *indices):
    rest = [k for k in range(len(x.shape)) if k not in axes]
    shape = {shape}
    flat = _flat(indices, [shape[a] for a in axes])
    count = 1
    for a in axes:
        count = count*shape[a]
    rows = {xp}.reshape({xp}.transpose(x, [*axes, *rest]), [count, *(shape[k] for k in rest)])
    rows = {take}
    depth, before = len(flat.shape), axes[0]
    order = [*range(depth, depth + before), *range(depth), *range(depth + before, depth + len(rest))]
    return {xp}.transpose(rows, order)
"""
_SCATTER_ADD = """\
def _scatter_add(values, axes, shape, *indices):
    order = [*axes, *(k for k in range(len(shape)) if k not in axes)]
    rest = order[len(axes) :]
    flat = _flat(indices, [shape[a] for a in axes])
    depth, before = len(flat.shape), axes[0]
    moved = [*range(before, before + depth), *range(before), *range(before + depth, depth + len(rest))]
    rows = {xp}.transpose(values, moved)
    count = 1
    for a in axes:
        count = count*shape[a]
    flat = {xp}.reshape(flat, (-1,))
    rows = {xp}.reshape(rows, [{first}, *(shape[k] for k in rest)])
    total = {segments}(rows, flat, count)
    total = {xp}.reshape(total, [shape[k] for k in order])
    return {xp}.transpose(total, [order.index(k) for k in range(len(order))])
"""
_UNSLICE = """\
def _unslice(x, key, shape):
    count = 1
    for size in shape:
        count = count*size
    places = {xp}.reshape({xp}.reshape({arange}, shape)[key], (-1,))
    return {xp}.reshape({segments}({xp}.reshape(x, (-1,)), places, count), shape)
"""
_TENSORFLOW = {
    "_erf": """\
def _erf(x):
    return tf.math.erf(tf.where(tf.math.abs(x) < 40, x, 40*tf.math.sign(x)))  # TensorFlow's of infinities is NaN
""",
    "_hypot": """\
def _hypot(x, y):
    x, y = tf.math.abs(x), tf.math.abs(y)
    large, small = tf.math.maximum(x, y), tf.math.minimum(x, y)
    ordinary = (large > 0) & tf.math.is_finite(large)
    ratio = small/tf.where(ordinary, large, tf.ones_like(large))  # squares of large numbers would overflow
    return tf.where(ordinary, large*tf.math.sqrt(1 + ratio**2), large)
""",
    "_with_slope": """\
@tf.custom_gradient
def _given_slope(x, y, z):
    return tf.identity(x), lambda v: (v, v*z, None)


def _with_slope(x, y, z):
    \"\"\"x as a value, with the derivatives of x and, as the derivative by y, z.\"\"\"
    shape = tf.shape(x)
    for other in (y, z):
        shape = tf.broadcast_dynamic_shape(shape, tf.shape(other))
    return _given_slope(*(tf.broadcast_to(e, shape) for e in (x, y, z)))
""",
    "_prod_except": """\
def _prod_except(x, axis):
    before = tf.math.cumprod(x, axis=axis, exclusive=True)
    return before*tf.math.cumprod(x, axis=axis, exclusive=True, reverse=True)
""",
    "_wrapped": """\
def _wrapped(index, x, axis):
    return tf.where(index < 0, index + tf.shape(x, index.dtype)[axis], index)
""",
    "_flat": _FLAT.format(whole="tf.cast(index, tf.int64)", where="tf.where"),
    "_gather": _GATHER.format(xp="tf", shape="tf.shape(x, tf.int64)", take="tf.gather(rows, flat)"),
    "_scatter_add": _SCATTER_ADD.format(
        xp="tf", first="tf.size(flat, tf.int64)", segments="tf.math.unsorted_segment_sum"
    ),
    "_unslice": _UNSLICE.format(
        xp="tf",
        arange="tf.range(tf.cast(count, tf.int64))",
        segments="tf.math.unsorted_segment_sum",
    ),
    **_matrices("tf.linalg.expm", "tf.concat"),
}
_KERAS = {
    # JAX's own custom_gradient keeps the computed value in derivatives of the result: this is wrong from order two on.
    "_with_pullback": """\
def _with_pullback(value, pullback):
    \"\"\"A function with a gradient of its own; what is read backward is computed again from the arguments.\"\"\"

    def call(*args):
        dtypes = [keras.backend.standardize_dtype(a.dtype) for a in args]
        real = [k for k, dtype in enumerate(dtypes) if keras.backend.is_float_dtype(dtype)]

        def every(given):
            return [given[real.index(k)] if k in real else a for k, a in enumerate(args)]

        def of_real(*given):
            return value(*every(given))

        def pulled(given, cotangent):
            found = pullback(*every(given), cotangent)
            return found if isinstance(found, tuple) else (found,)

        if keras.backend.backend() == "jax":
            import jax

            f = jax.custom_vjp(of_real)
            f.defvjp(lambda *given: (f(*given), given), pulled)
        else:

            @ops.custom_gradient
            def f(*given):
                def grad(*args, upstream=None):
                    if upstream is None:  # TensorFlow passes the cotangent alone
                        return pulled(given, *args)
                    return pulled(args, upstream)  # torch passes what it saved, and the cotangent by name

                return of_real(*given), grad

        return f(*[args[k] for k in real])

    return call
""",
    "_with_slope": """\
def _with_slope(x, y, z):
    \"\"\"x as a value, with the derivatives of x and, as the derivative by y, z.\"\"\"
    shape = ops.shape(x + y + z)
    given = _with_pullback(lambda x, y, z: 1*x, lambda x, y, z, v: (v, v*z, ops.zeros_like(z)))
    return given(*(ops.broadcast_to(e, shape) for e in (x, y, z)))
""",
    "_sign": """\
def _sign(x):
    return ops.where(x == x, ops.sign(x), x)  # torch's of NaN is 0
""",
    "_prod_except": _PROD_EXCEPT.format(xp="ops", flip="ops.flip(x, -1)", back="ops.flip(after, -1)"),
    "_flat": _FLAT.format(whole='ops.cast(index, "int32")', where="ops.where"),
    "_gather": _GATHER.format(xp="ops", shape="ops.shape(x)", take="ops.take(rows, flat, axis=0)"),
    "_scatter_add": _SCATTER_ADD.format(xp="ops", first="ops.shape(flat)[0]", segments="ops.segment_sum"),
    "_unslice": _UNSLICE.format(
        xp="ops", arange='ops.arange(count, dtype="int32")', segments="ops.segment_sum"
    ),
}

HELPERS: Mapping[str, Mapping[str, str]] = {
    "jax": _JAX,
    "torch": _TORCH,
    "tensorflow": _TENSORFLOW,
    "keras": _KERAS,
}
"""By framework and name, callees first."""
