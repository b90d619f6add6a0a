"""Derivatives as the literature writes them, in the names of their programs."""

from __future__ import annotations

from tests.pretty.closed_forms.functions import ACTIVATIONS, SCIENCES
from tests.pretty.closed_forms.learning import ESTIMATION, NETWORKS
from tests.pretty.closed_forms.losses import LIKELIHOODS, LOSSES
from tests.pretty.closed_forms.matrices import MATRICES
from tests.pretty.closed_forms.row import Row

__all__ = ["ROWS"]

ROWS: list[Row] = [*MATRICES, *LOSSES, *LIKELIHOODS, *ESTIMATION, *NETWORKS, *ACTIVATIONS, *SCIENCES]
