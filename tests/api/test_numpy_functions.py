"""Each function of NumPy that expressions have, against NumPy's own, at numbers; and what is written for the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special

import symgrad as sg
from symgrad.api.foreign_names import cure_of_numpy
from symgrad.api.functions.numpy_names import NUMPY
from symgrad.api.tracing.functions_page import functions_page, versions
from symgrad.api.tracing.trace import Traced
from tests.conftest import compare_golden

PAGE = Path(__file__).parents[2] / "docs" / "numpy-functions.md"

X = np.array([[0.5, -1.25, 2.0], [1.5, 0.75, -0.5]])
S = np.array([[2.0, 0.5], [0.25, 3.0]])
V = np.array([0.3, -1.5, 2.5])
P = np.array([0.2, 1.5, 0.7])

ARRAYS = {"X": X, "S": S, "V": V, "P": P}

TEXTS = """
max: np.max(X, axis=1)
min: np.min(X, 0, keepdims=True)
amax: np.amax(X)
amin: np.amin(X, 1)
mean: np.mean(X, axis=0)
sum: np.sum(X, axis=(0, 1), dtype=np.float64)
prod: np.prod(X, axis=1)
argmax: np.argmax(X, axis=1)
argmin: np.argmin(X)
var: np.var(X, axis=0, ddof=1)
std: np.std(X)
norm: np.linalg.norm(V, 1)
linalg.norm: np.linalg.norm(X)
squeeze: np.squeeze(X[None])
flip: np.flip(X, 1)
concatenate: np.concatenate([X, X[:1]], axis=0)
concat: np.concat([V, P])
stack: np.stack((V, P), axis=-1)
vstack: np.vstack([V, X])
hstack: np.hstack([X, S])
ravel: np.ravel(X)
diag: np.diag(S) + np.diag(V)[0, 0]
trace: np.trace(S)
kron: np.kron(S, X)
dot: np.dot(X, V)
inner: np.inner(V, P)
matmul: np.matmul(S, X)
outer: np.outer(V, P)
linalg.inv: np.linalg.inv(S)
linalg.det: np.linalg.det(S)
linalg.slogdet: np.linalg.slogdet(S)[1]
linalg.solve: np.linalg.solve(S, X)
linalg.cholesky: np.linalg.cholesky(S @ S.T + np.eye(len(S)))
linalg.matmul: np.linalg.matmul(S, X)
linalg.outer: np.linalg.outer(V, P)
linalg.matrix_power: np.linalg.matrix_power(S, 3)
linalg.tensordot: np.linalg.tensordot(S, X, axes=1)
linalg.multi_dot: np.linalg.multi_dot([S, X, V])
linalg.vector_norm: np.linalg.vector_norm(X) + np.linalg.vector_norm(V, ord=1)
linalg.cross: np.linalg.cross(V, P)
linalg.vecdot: np.linalg.vecdot(X, V)
linalg.trace: np.linalg.trace(S)
linalg.diagonal: np.linalg.diagonal(S)
linalg.matrix_transpose: np.linalg.matrix_transpose(X)
broadcast_to: np.broadcast_to(V, (2, 3))
cumsum: np.cumsum(X, axis=1)
einsum: np.einsum("ij,j->i", X, V)
expand_dims: np.expand_dims(V, 1)
full_like: np.full_like(X, 2.5)
zeros_like: np.zeros_like(X) + V
ones_like: np.ones_like(X)*V
moveaxis: np.moveaxis(X, 0, 1)
permute_dims: np.permute_dims(X, (1, 0))
transpose: np.transpose(X)
swapaxes: np.swapaxes(X, 0, 1)
matrix_transpose: np.matrix_transpose(X)
ndim: np.ndim(X)*V
shape: np.shape(X)[1]*V
size: np.size(X, 1)*V
pad: np.pad(X, 1)
reshape: np.reshape(X, (3, 2))
take: np.take(X, [2, 0], axis=1)
take_along_axis: np.take_along_axis(X, np.array([[0], [2]]), 1)
tensordot: np.tensordot(X, X, axes=([1], [1]))
where: np.where(X > 0, X, -1.0)
append: np.append(V, P) + np.append(X[0], P)
append rows: np.append(X, X, axis=0)
average: np.average(X, axis=1, weights=P) + np.average(V, weights=P)
atleast_1d: np.atleast_1d(V[0])
atleast_2d: np.atleast_2d(V) + np.atleast_2d(V[0])
clip: np.clip(X, -1, a_max=1) + np.clip(X, min=0.25, max=None)
column_stack: np.column_stack([V, P, X.T])
convolve: np.convolve(V, P) + np.convolve(P, V, "full")
convolve same: np.convolve(V, P[:2], "same")
convolve valid: np.convolve(V, P[:2], mode="valid")
correlate: np.correlate(V, P) + np.correlate(V, P, "full")[1:2] + np.correlate(P[:2], V, "same")
cumprod: np.cumprod(X, axis=-2) + np.cumprod(X, 1)
cumprod all: np.cumprod(X)
cumulative_prod: np.cumulative_prod(X, axis=1) + np.cumulative_sum(X, axis=0)
cumulative_sum: np.cumulative_sum(V)
multiply.accumulate: np.multiply.accumulate(X, axis=0)
corrcoef: np.corrcoef(X) + np.corrcoef(V, P) + np.corrcoef(V)
copysign: np.copysign(X, V)
sort: np.sort(X) + np.sort(X, axis=0) + np.sort(np.round(S[0]))[0]
argsort: np.argsort(X, axis=1) + np.argsort(-X, 0)
argsort of ties: np.argsort(np.round(X))
median: np.median(X, axis=1) + np.median(X) + np.median(S, axis=-1, keepdims=True)
quantile: np.quantile(X, 0.3, axis=-1) + np.quantile(X, 1) + np.quantile(S, 0.25, axis=(0, 1))
quantiles: np.quantile(X, P/2, axis=1) + np.quantile(V, 0)
percentile: np.percentile(X, 30, axis=0, keepdims=True) + np.percentile(V, P*10)
searchsorted: np.searchsorted(np.cumsum(P), V) + np.searchsorted(np.cumsum(P), X, side="right")
digitize: np.digitize(X, np.cumsum(P)) + np.digitize(V, np.cumsum(P), right=True)
interp: np.interp(X, np.cumsum(P), V) + np.interp(V, [0.0, 1.0, 2.0], P, left=V[0], right=3)
gradient: np.gradient(X)[0] + np.gradient(X, P[0], np.cumsum(P))[1] + np.gradient(X, 0.5, axis=-1, edge_order=2)
gradient of places: np.gradient(X, np.cumsum(P), axis=1, edge_order=2)
vander: np.vander(V) + np.vander(V, increasing=True)
vander columns: np.vander(V, 5)
count_nonzero: np.count_nonzero(X > 0, axis=1)
cov: np.cov(X) + np.cov(V, P) + np.cov(X, bias=True)
cov of columns: np.cov(X, rowvar=False, ddof=0) + np.cov(V)
cross: np.cross(X, V)
diff: np.diff(X, axis=0) + np.diff(X, n=2)
linspace: np.linspace(V, P, 5) + np.linspace(V[0], 2, num=5, endpoint=False)[:, None]
meshgrid: np.meshgrid(V, P[:2])[0] + np.meshgrid(V, P[:2])[1]
meshgrid ij: np.meshgrid(V, P[:2], indexing="ij")[1]
polyval: np.polyval(V, P) + np.polyval([1, 2, 3], P)
ptp: np.ptp(X, axis=1)
repeat: np.repeat(X, 2, axis=1)
repeat all: np.repeat(X, 3)
roll: np.roll(X, 1, axis=1)
roll all: np.roll(X, -2)
round: np.round(X)
around: np.around(X)
fix: np.fix(X)
trunc: np.trunc(X)
select: np.select([X > 1, X > 0], [X, 2*X], -1)
split: np.split(V, [1])[1] + np.split(X.T, 3)[2]
tile: np.tile(V, (2, 2)) + np.tile(X, 2)
tile one: np.tile(V[0], 3)
trapezoid: np.trapezoid(X, dx=0.5) + np.trapezoid(X.T, P, axis=0) + np.trapezoid(X, P)
vdot: np.vdot(X, X)
vecdot: np.vecdot(X, V)
any: np.any(X > 1.75, axis=1)*P[0]
all: np.all(X > -0.75, axis=1)*P[0]
copy: np.copy(X)
real: np.real(X)
conjugate: np.conjugate(X)
add.reduce: np.add.reduce(X)
multiply.reduce: np.multiply.reduce(X, axis=1)
maximum.reduce: np.maximum.reduce(X, axis=1, keepdims=True)
minimum.reduce: np.minimum.reduce(X, axis=(0, 1))
logaddexp.reduce: np.logaddexp.reduce(X, axis=1)
add.outer: np.add.outer(V, X)
subtract.outer: np.subtract.outer(V, P)
multiply.outer: np.multiply.outer(V, P)
divide.outer: np.divide.outer(V, P)
power.outer: np.power.outer(P, P)
maximum.outer: np.maximum.outer(V, P)
minimum.outer: np.minimum.outer(V, P)
greater.outer: np.greater.outer(V, P)*1.0
less.outer: np.less.outer(V, P)*1.0
add.accumulate: np.add.accumulate(X, axis=1)
entr: special.entr(P)
rel_entr: special.rel_entr(P, P + 1)
log_expit: special.log_expit(V)
exp10: special.exp10(V)
fmax: np.fmax(V, P)
fmin: np.fmin(V, P)
logaddexp2: np.logaddexp2(V, P)
deg2rad: np.deg2rad(V)
radians: np.radians(V)
rad2deg: np.rad2deg(V)
degrees: np.degrees(V)
bitwise_and: np.where(np.bitwise_and(V > 0, P > 1), V, 0)
bitwise_or: np.where(np.bitwise_or(V > 0, P > 1), V, 0)
bitwise_xor: np.where(np.bitwise_xor(V > 0, P > 1), V, 0)
invert: np.where(np.invert(V > 0), V, 0)
tril: np.tril(S) + np.tril(S, -1)
triu: np.triu(S, 1) + np.triu(X)[:, :2]
flipud: np.flipud(X)
fliplr: np.fliplr(X)
diagonal: np.diagonal(S)
array: np.array([V[0], 2.0, P[1]]) + np.asarray([V[1], V[2], 1])
logsumexp: special.logsumexp(X, axis=1, keepdims=True)
softmax: special.softmax(X, axis=1) + special.log_softmax(X, axis=0)
multigammaln: special.multigammaln(P[1] + 2, 3) + special.polygamma(1, P[1])
divmod: np.divmod(X, P)[0] + np.divmod(X, 0.75)[1]
subtract: np.subtract(X, V) + np.float_power(2.0, X) + np.positive(X) + np.fabs(X)
scipy: special.gammaln(P) + special.erf(V) + special.ndtr(V) + special.expit(V)
scipy more: special.xlogy(P, P) + special.digamma(P)
mask: V[np.array([True, False, True])] + X[np.array([[True, False, False], [False, False, True]])]
rows: V[np.array([2, 0])] + np.arange(2)*P[0] + np.eye(2)[0]
"""


def rows() -> list[tuple[str, str]]:
    return [(name, code) for name, _, code in (line.partition(": ") for line in TEXTS.strip().splitlines())]


@pytest.mark.parametrize(("name", "code"), rows(), ids=[name for name, _ in rows()])
def test_a_function_of_numpy_has_numpys_value(name: str, code: str) -> None:
    function: Any = eval(f"lambda X, S, V, P: {code}", {"np": np, "special": special})
    inputs = {n: sg.tensor(n, v.shape) for n, v in ARRAYS.items()}
    found = Traced(function, ARRAYS).call(inputs.values(), {})
    expected = function(*ARRAYS.values())
    assert isinstance(found, sg.Expr), name
    assert found.shape == np.shape(expected)
    used: Any = {e.name: ARRAYS[str(e.name)] for e in found.inputs}
    value: Any = found(**used)
    np.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-14)


def test_every_function_of_the_registry_has_a_row() -> None:
    assert set(NUMPY) - {name for name, _ in rows()} == set()


@pytest.mark.parametrize(
    "code",
    ["np.partition(V, 1)", "np.unique(V)", "np.linalg.svd(S)", "np.nonzero(V)", "np.fft.fft(V)", "np.nansum(V)",
     "special.hyp2f1(V, 1, 2, 0.5)", "np.roots(V)", "np.copyto(V, P)", "np.sum(V, where=[True, False, True])"],
)  # fmt: skip
def test_a_function_that_expressions_do_not_have_is_refused_with_a_cure(code: str) -> None:
    function: Any = eval(f"lambda V, P, S: {code}", {"np": np, "special": special})
    with pytest.raises(sg.errors.UnsupportedError) as caught:
        Traced(function, "VPS").call([sg.tensor(n, ARRAYS[n].shape) for n in "VPS"], {})
    assert caught.value.cure
    assert caught.value.at is not None


@pytest.mark.skipif(
    "NumPy {} and of `scipy.special` in SciPy {}.".format(*versions()) not in PAGE.read_text("utf-8"),
    reason="other versions have other functions",
)
def test_the_page_is_up_to_date(request: pytest.FixtureRequest) -> None:
    compare_golden(PAGE, functions_page(), update=bool(request.config.getoption("--update-golden")))


def test_the_cures_name_what_there_is() -> None:
    assert "np.select" in cure_of_numpy("piecewise")
