"""What a sample of this size could have shown."""

from __future__ import annotations

import numpy as np

from perception.errors import BadInput
from reasoning.statistics.samples import scipy

__all__ = ["smallest_difference"]


def smallest_difference(
    n: int, discordant: float, *, design_effect: float = 1.0, power: float = 0.8
) -> float | None:
    """The smallest true difference that the exact McNemar test at 5 % would find with ``power``.

    Args:
        n: questions.
        discordant: share of questions that change between the conditions, either way, in (0, 1].
        design_effect: by which clustering divides the effective number of questions.
        power: chance of finding it.

    Returns:
        A difference of accuracies in (0, ``discordant``], None where even that cannot be found.
    """
    if n < 1 or not 0 < discordant <= 1 or design_effect <= 0 or not 0 < power < 1:
        raise BadInput(
            "The smallest difference needs n >= 1, a share of changes in (0, 1], a design effect "
            f"above 0 and a power in (0, 1), not {n}, {discordant}, {design_effect}, {power}."
        )
    binom = scipy("stats").binom
    size = max(1, int(n / max(1.0, design_effect)))
    changes = np.arange(size + 1)
    weights = binom.pmf(changes, size, discordant)
    critical = binom.ppf(0.025, changes, 0.5)
    critical = np.where(binom.cdf(critical, changes, 0.5) <= 0.025, critical, critical - 1)

    def found(share: float) -> float:
        tails = binom.cdf(critical, changes, share) + binom.cdf(critical, changes, 1 - share)
        return float((weights * np.where(critical >= 0, tails, 0.0)).sum())

    if found(1.0) < power:
        return None
    low, high = 0.5, 1.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) >= power else (middle, high)
    return float(discordant * (2 * high - 1))
