"""The quadratic model of a loss at a point: Newton's step, and directions of negative and zero curvature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from symgrad.api.limits import CURVED_VARIABLES, FLAT_DIRECTIONS, KRYLOV_DIRECTIONS

Vector: TypeAlias = "np.ndarray[Any, Any]"

_FLAT = 1e-9
"""A curvature of at most this size, relative to the largest curvature, may be a rounding error of the Hessian."""
_SCALINGS = 12


@dataclass(frozen=True, slots=True)
class Curvature:
    """The quadratic model of a loss in the free variables.

    Args:
        step: Newton's step with the absolute values of curvatures, which leads away from saddle points.
        gain: the decrease of the model's loss by this step.
        gain_of: a function that returns the gain for another gradient.
        unit: the unit of each variable, so chosen that the entries of the Hessian have about size 1; 1 for fixed
            variables.
        falling: a direction of the lowest curvature, if that curvature is negative.
        flat: directions of zero or unknown curvature.
        all_rise: whether the curvature is known and positive in every direction.
        all_fall: whether the curvature is known and negative in every direction.
    """

    step: Vector
    gain: float
    gain_of: Callable[[Vector], float]
    unit: Vector
    falling: Sequence[Vector]
    flat: Sequence[Vector]
    all_rise: bool
    all_fall: bool


def curvature_at(
    product: Callable[[Vector, Vector], Vector] | None, x: Vector, slope: Vector, free: Any
) -> Curvature:
    """Return the curvature of a loss at a point.

    Args:
        product: a function that returns the Hessian at a point times a vector; None if there is no Hessian.
        x: the point.
        slope: the gradient at this point.
        free: a mask of the variables that may move.
    """
    places = np.flatnonzero(free)
    here = slope[places]

    def times(part: Vector) -> Vector:
        whole = np.zeros_like(x)
        whole[places] = part
        return np.zeros_like(part) if product is None else product(x, whole)[places]

    if product is not None and len(places) <= CURVED_VARIABLES:
        columns = [times(row) for row in np.eye(len(places))]
        matrix = np.array(columns).reshape(len(places), len(places))
        if np.isfinite(matrix).all():
            return _from_matrix((matrix + matrix.T) / 2, here, places, len(x))
    elif product is not None:
        return _from_products(times, here, len(x))
    return Curvature(
        np.full_like(here, np.inf),
        np.inf if here.any() else 0.0,
        lambda other: np.inf if other.any() else 0.0,
        np.ones_like(x),
        (),
        list(np.eye(min(len(places), FLAT_DIRECTIONS), len(places))),
        all_rise=False,
        all_fall=False,
    )


def _from_matrix(matrix: Vector, slope: Vector, places: Vector, count: int) -> Curvature:
    # Units of the variables do not change the signs of curvatures, but they balance rounding errors.
    unit = np.ones(len(slope))
    for _ in range(_SCALINGS):
        rows = np.max(np.abs(matrix * unit * unit[:, None]), axis=1, initial=0.0)
        unit = unit / np.where(rows > 0, np.sqrt(rows), 1.0)
    values, vectors = np.linalg.eigh(matrix * unit * unit[:, None])
    size = float(np.max(np.abs(values), initial=0.0))
    flat = np.abs(values) <= _FLAT * size
    stiff = np.maximum(np.abs(values), _FLAT * size) if size else np.ones(len(values))

    def along(gradient: Vector) -> Vector:
        return vectors.T @ (unit * gradient)

    def gain_of(gradient: Vector) -> float:
        return float(np.sum(along(gradient) ** 2 / stiff) / 2) if size or not gradient.any() else np.inf

    whole = np.ones(count)
    whole[places] = unit
    return Curvature(
        step=-unit * (vectors @ (along(slope) / stiff)),
        gain=gain_of(slope),
        gain_of=gain_of,
        unit=whole,
        falling=[unit * _signed(vectors[:, 0])] if len(values) and values[0] < 0 and not flat[0] else [],
        flat=[unit * vectors[:, k] for k in np.flatnonzero(flat)],
        all_rise=bool(np.all(values > 0) and not flat.any()),
        all_fall=bool(np.all(values < 0) and not flat.any()),
    )


def _from_products(times: Callable[[Vector], Vector], slope: Vector, count: int) -> Curvature:
    """Return the curvature in the Krylov spaces of the gradient and of a random vector."""
    random = np.random.default_rng(0).standard_normal(len(slope))
    length = float(np.linalg.norm(slope))
    basis, values, vectors = _krylov(times, slope if length else random)
    size = float(np.max(np.abs(values), initial=0.0))
    stiff = np.maximum(np.abs(values), _FLAT * size) if size else np.ones(len(values))

    def gain_of(gradient: Vector) -> float:
        return float(np.sum((vectors.T @ (basis @ gradient)) ** 2 / stiff) / 2)

    step = -((vectors @ ((vectors.T @ (basis @ slope)) / stiff)) @ basis)
    other, lowest, others = _krylov(times, random) if length else (basis, values, vectors)
    falling: list[Vector] = []
    for rows, found, columns in ((other, lowest, others), (basis, values, vectors)):
        if len(found) and found[0] < -_FLAT * float(np.max(np.abs(found))) and not falling:
            falling.append(_signed(columns[:, 0] @ rows))
    return Curvature(
        step, gain_of(slope), gain_of, np.ones(count), falling, (), all_rise=False, all_fall=False
    )


def _krylov(times: Callable[[Vector], Vector], first: Vector) -> tuple[Vector, Vector, Vector]:
    """Return an orthonormal basis (rows) of the Krylov space of a vector, and the eigenvalues and vectors in it."""
    rows = [first / np.linalg.norm(first)]
    images: list[Vector] = []
    for _ in range(KRYLOV_DIRECTIONS):
        image = times(rows[-1])
        images.append(image)
        rest = image
        for _ in range(2):  # twice is enough for orthogonality up to rounding
            for row in rows:
                rest = rest - (row @ rest) * row
        norm = float(np.linalg.norm(rest))
        if not norm > 1e-12 * float(np.linalg.norm(image)) or len(rows) == KRYLOV_DIRECTIONS:
            break
        rows.append(rest / norm)
    basis = np.array(rows[: len(images)])
    small = basis @ np.array(images).T
    if not np.isfinite(small).all():
        return basis, np.zeros(len(basis)), np.eye(len(basis))
    values, vectors = np.linalg.eigh((small + small.T) / 2)
    return basis, values, vectors


def _signed(vector: Vector) -> Vector:
    """Return v or -v so that the entry of the largest magnitude is positive."""
    return vector if vector[np.argmax(np.abs(vector))] > 0 else -vector
