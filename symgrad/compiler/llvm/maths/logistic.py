"""sigmoid and softplus of x and of -x, from the pair e = exp(-|x|), which cannot overflow.

sigmoid(|x|) = 1/(1 + e) and sigmoid(-|x|) = e/(1 + e); softplus(|x|) = |x| + log(1 + e), softplus(-|x|) = log(1 + e).
All terms are positive, so nothing cancels.
"""

from __future__ import annotations

from symgrad.compiler.llvm.maths.exponential import exp_as_pair, exp_of_pair
from symgrad.compiler.llvm.maths.logarithm import log_of_one_to_two
from symgrad.compiler.llvm.maths.vectors.lanes import Lane, LaneWriter

_NORMAL_LIMIT = 690.0
"""Up to this |x| the terms of exp(-|x|) and the remainders of divisions are normal numbers."""


def logistic(lanes: LaneWriter, x: Lane) -> tuple[Lane, ...]:
    size, zero = lanes.abs(x), lanes.const(0)
    e = exp_as_pair(lanes, -size)
    one_and_e, error = lanes.fast_two_sum(lanes.const(1), e[0])
    denominator = one_and_e, error + e[1]
    log, log_low = log_of_one_to_two(lanes, *e)

    def sigmoid(small: Lane) -> Lane:
        """e/(1 + e) where ``small``, else 1/(1 + e)."""
        above = lanes.select(small, e[0], 1.0), lanes.select(small, e[1], zero)
        return lanes.ratio(above, denominator)

    def softplus(plus: Lane) -> Lane:
        total, lost = lanes.two_sum(plus, log)
        return total + (lost + log_low)

    negative = x < 0.0
    positive = lanes.not_(negative)
    usual = (
        sigmoid(negative),
        sigmoid(positive),
        softplus(lanes.select(negative, 0.0, size)),
        softplus(lanes.select(negative, size, 0.0)),
    )

    def at_ends() -> list[Lane]:
        # In these lanes 1 + e rounds to 1, log(1 + e) to e, and |x| + log(1 + e) to |x|.
        small = exp_of_pair(lanes, -size)
        return [
            lanes.select(x > 0.0, 1.0, small),
            lanes.select(negative, 1.0, small),
            lanes.select(x > 0.0, size, small),
            lanes.select(negative, size, small),
        ]

    return lanes.with_slow_path(lanes.not_(size <= _NORMAL_LIMIT), usual, at_ends, x.is_nan)
