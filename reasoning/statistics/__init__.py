"""Numbers that survive review: accuracies and paired differences with intervals clustered by video,
exact tests, and what a sample of this size could have shown.

Questions about one video share what the model saw of it, so they are no independent draws: every
interval here resamples or groups whole videos (``clusters``). Comparisons pair the same questions.
"""

from reasoning.statistics.agreement import Agreement, alpha, kappa
from reasoning.statistics.correlations import Correlation, correlation
from reasoning.statistics.paired import (
    Difference,
    MarginalTest,
    holm,
    mcnemar,
    mcnemar_from_margins,
    paired_difference,
)
from reasoning.statistics.power import smallest_difference
from reasoning.statistics.samples import Floats, Interval, columns
from reasoning.statistics.shares import Accuracy, accuracy, proportion

__all__ = [
    "Accuracy",
    "Agreement",
    "Correlation",
    "Difference",
    "Floats",
    "Interval",
    "MarginalTest",
    "accuracy",
    "alpha",
    "columns",
    "correlation",
    "holm",
    "kappa",
    "mcnemar",
    "mcnemar_from_margins",
    "paired_difference",
    "proportion",
    "smallest_difference",
]
