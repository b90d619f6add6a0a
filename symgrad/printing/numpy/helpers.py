"""Functions that the written source defines, because NumPy and SciPy have no such function."""

from __future__ import annotations

from collections.abc import Mapping

HELPERS: Mapping[str, str] = {
    "lgamma": """\
def _lgamma(x):
    near = special.loggamma(np.add(x, 0j)).real + 0.0
    return np.where(np.abs(np.subtract(x, 1.5)) < 1, near, special.gammaln(x))
""",
    "pow": """\
def _pow(x, y):
    x = np.asarray(x)
    return np.power(x.astype(np.result_type(x, np.float32)), y)
""",
}
"""Helpers of elementwise ops, by op."""

ARRAY_HELPERS: Mapping[str, str] = {
    "_shifted": """\
def _shifted(x, axis):
    top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    return x - np.where(np.isfinite(top), top, 0.0), np.where(np.isfinite(top), top, 0.0)
""",
    "_logsumexp": """\
def _logsumexp(x, axis):
    shifted, top = _shifted(x, axis)
    return np.log(np.sum(np.exp(shifted), axis=axis)) + np.squeeze(top, axis=axis)
""",
    "_softmax": """\
def _softmax(x, axis):
    e = np.exp(_shifted(x, axis)[0])
    return e/np.sum(e, axis=axis, keepdims=True)
""",
    "_log_softmax": """\
def _log_softmax(x, axis):
    shifted, _ = _shifted(x, axis)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))
""",
    "_norm": """\
def _norm(x, axis):
    top = np.max(np.abs(x), axis=axis, keepdims=True, initial=0.0)
    scale = np.where((top > 0) & np.isfinite(top), top, 1.0)  # squares of large entries would overflow
    return np.sqrt(np.sum((x/scale)**2, axis=axis))*np.squeeze(scale, axis=axis)
""",
    "_prod_except": """\
def _prod_except(x, axis):
    x = np.moveaxis(np.asarray(x), axis, -1)
    one = np.ones_like(x[..., :1])
    before = np.cumprod(np.concatenate([one, x[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([one, x[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    return np.moveaxis(before*after, -1, axis)
""",
    "_unslice": """\
def _unslice(x, key, shape):
    result = np.zeros(shape, dtype=x.dtype)
    result[key] = x
    return result
""",
    "_gather": """\
def _gather(x, axes, *indices):
    rows = np.moveaxis(x, axes, range(len(axes)))[indices]
    depth = np.broadcast(*indices).ndim
    return np.moveaxis(rows, range(depth), range(axes[0], axes[0] + depth))
""",
    "_scatter_add": """\
def _scatter_add(values, axes, shape, *indices):
    result = np.zeros(shape, dtype=values.dtype)
    depth = np.broadcast(*indices).ndim
    values = np.moveaxis(values, range(axes[0], axes[0] + depth), range(depth))
    np.add.at(np.moveaxis(result, axes, range(len(axes))), indices, values)  # adds up at equal positions
    return result
""",
    "_expm": """\
def _expm(x):
    return scipy.linalg.expm(x) if np.size(x) else x + 0.0
""",
    "_expm_frechet": """\
def _expm_frechet(x, e):
    result = x*e + 0.0
    for i in np.ndindex(x.shape[:-2] if np.size(x) else 0):
        result[i] = scipy.linalg.expm_frechet(x[i], e[i], compute_expm=False)
    return result
""",
}
"""Helpers of other ops, by name, callees first."""
