"""Windows over one person's poses, and what their posteriors say about when an action was done.

A classifier looks at a window of fixed length; an action starts and ends anywhere. So windows
overlap, each is averaged with those that share most of its time, neighbours with the same label are
merged, and where the label changes the boundary is put
at the instant at which the posteriors of the two labels, drawn as straight lines between the
windows' centres, cross.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perception.cue import Span

__all__ = [
    "Segment",
    "clip_between",
    "each_window",
    "joint_travel",
    "segments",
    "smoothed",
    "window_spans",
]

Floats = npt.NDArray[np.float32]

SMOOTHING_S = 1 / 3
"""Joints are averaged over this long before their travel is measured: an estimator's jitter
averages out, a gesture stays."""

VISIBLE = 0.3
"""Score from which a joint counts as seen when travel and body size are measured."""


def window_spans(start_s: float, end_s: float, window_s: float, stride_s: float) -> list[Span]:
    """Windows that cover [start_s, end_s), each within it.

    One every ``stride_s``; a last one ends at ``end_s`` where the regular ones leave a tail. What
    is shorter than a window gives one window as long as itself. With ``stride_s > window_s`` the
    time between windows is left out on purpose.
    """
    if end_s - start_s <= window_s:
        return [Span(start_s, end_s)]
    count = int((end_s - start_s - window_s) / stride_s + 1e-9) + 1
    starts = [start_s + i * stride_s for i in range(count)]
    spans = [Span(s, s + window_s) for s in starts]
    if end_s - spans[-1].end_s > 1e-6 and starts[-1] + stride_s < end_s:
        spans.append(Span(end_s - window_s, end_s))
    return spans


def clip_between(
    times_s: npt.NDArray[np.float64],
    keypoints: Floats,
    scores: Floats,
    span: Span,
    rate_hz: float,
    max_gap_s: float = 0.25,
) -> tuple[Floats, Floats, float]:
    """The poses in a span at equal steps of time.

    Args:
        times_s: [N] ascending.
        keypoints: [N, 17, 2].
        scores: [N, 17].
        rate_hz: steps a second.
        max_gap_s: a step that is further than this from every pose has no visible joint.

    Returns:
        keypoints [T, 17, 2], scores [T, 17] of the pose nearest to each of the T >= 1 steps, and
        the share of steps that have one.
    """
    count = max(1, round(span.duration_s * rate_hz))
    steps = span.start_s + (np.arange(count) + 0.5) * (span.duration_s / count)
    after = np.clip(np.searchsorted(times_s, steps), 1, len(times_s) - 1) if len(times_s) > 1 else 0
    before = np.maximum(np.asarray(after) - 1, 0)
    nearer = steps - times_s[before] <= times_s[after] - steps
    nearest = np.where(nearer, before, after)
    present = np.abs(times_s[nearest] - steps) <= max_gap_s
    seen = np.where(present[:, None], scores[nearest], np.float32(0)).astype(np.float32)
    return keypoints[nearest].astype(np.float32), seen, float(present.mean())


def joint_travel(keypoints: Floats, scores: Floats, rate_hz: float) -> float:
    """How far the joints of a clip travel, as a share of the body's size.

    Each joint's path is smoothed over ``SMOOTHING_S``; its travel is the longer side of the box
    around that path. The second largest travel counts, so that one badly estimated joint does not.
    Body size is the longer side of the box around the visible joints, in the median of the frames.

    Args:
        keypoints: [T, 17, 2].
        scores: [T, 17].
    """
    seen = scores >= VISIBLE
    kept = seen.mean(axis=0) >= 0.5
    if kept.sum() < 2:
        return 0.0
    paths = keypoints[:, kept]
    size = float(np.median(np.ptp(paths, axis=1).max(axis=1)))
    width = min(len(paths), max(1, round(SMOOTHING_S * rate_hz)))
    sums = np.cumsum(np.concatenate([np.zeros_like(paths[:1]), paths]), axis=0, dtype=np.float64)
    smooth = (sums[width:] - sums[:-width]) / width
    travel = np.ptp(smooth, axis=0).max(axis=1)
    return float(np.sort(travel)[-2] / max(size, 1e-6))


def smoothed(spans: Sequence[Span], posteriors: Floats) -> Floats:
    """Average each window with those that share more than half of its time.

    Two looks at nearly the same poses that disagree are both less sure; one odd window among
    others is outvoted. Weights fall from 1 to 0 with the distance of the centres, over half a
    window; windows that do not overlap stay as they are.

    Args:
        spans: of the windows, in order of time.
        posteriors: [windows, labels].

    Returns:
        float32 [windows, labels], rows still summing to 1.
    """
    if not len(spans):
        return posteriors
    centres = np.array([(s.start_s + s.end_s) / 2 for s in spans])
    reach = np.array([max(s.duration_s, 1e-9) / 2 for s in spans])
    apart = np.abs(centres[:, None] - centres[None, :]) / reach[:, None]
    weights = np.maximum(0, 1 - apart)
    weights /= weights.sum(axis=1, keepdims=True)
    return np.asarray(weights @ posteriors, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of time with one label.

    Args:
        label: index of the label.
        span: when.
        best: index of the window whose posterior of the label is highest.
    """

    label: int
    span: Span
    best: int


def segments(spans: Sequence[Span], posteriors: Floats) -> list[Segment]:
    """Merge neighbouring windows of one label; see the module's description for their ends.

    Args:
        spans: of the windows, in order of time.
        posteriors: [windows, labels].

    Returns:
        The segments of all labels in order of time; they do not overlap, and none leaves its own
        windows. The first begins with the first window, the last ends with the last one.
    """
    said = np.argmax(posteriors, axis=1) if len(spans) else np.zeros(0, dtype=np.int64)
    groups = [list(group) for _, group in itertools.groupby(range(len(spans)), said.__getitem__)]
    found = []
    for position, group in enumerate(groups):
        first, last, label = group[0], group[-1], int(said[group[0]])
        start_s, end_s = spans[first].start_s, spans[last].end_s
        if position > 0:
            crossing_s = _crossing(spans, posteriors, first - 1, int(said[first - 1]), label)
            start_s = max(start_s, min(crossing_s, spans[first - 1].end_s))
        if position + 1 < len(groups):
            crossing_s = _crossing(spans, posteriors, last, label, int(said[last + 1]))
            end_s = min(end_s, max(crossing_s, spans[last + 1].start_s))
        best = first + int(np.argmax(posteriors[first : last + 1, label]))
        found.append(Segment(label, Span(start_s, max(start_s, end_s)), best))
    return found


def each_window(spans: Sequence[Span], posteriors: Floats) -> list[Segment]:
    """A segment for each window, with its most probable label; arguments as for ``segments``."""
    return [Segment(int(np.argmax(row)), spans[i], i) for i, row in enumerate(posteriors)]


def _crossing(spans: Sequence[Span], posteriors: Floats, i: int, a: int, b: int) -> float:
    """When the posterior of label ``b`` overtakes that of ``a`` between windows ``i`` and
    ``i+1``."""
    centre = (spans[i].start_s + spans[i].end_s) / 2
    following = (spans[i + 1].start_s + spans[i + 1].end_s) / 2
    lead = float(posteriors[i, a] - posteriors[i, b])
    lag = float(posteriors[i + 1, b] - posteriors[i + 1, a])
    share = lead / (lead + lag) if lead + lag > 0 else 0.5
    return centre + share * (following - centre)
