"""Training examples and views of "none" out of a user's labelled clips."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perception.cue import Span
from perception.skeleton.heatmaps import HeatmapShape, sample_frames
from perception.skeleton.training.augmentation import Example, Mirror, distort, held_ends
from perception.skeleton.training.clips import LEAST_PRESENCE, Clip, Window, centred
from perception.skeleton.training.nothing import ALONE, TOGETHER, partial_joints

__all__ = ["ClipExamples", "MadeNothing", "sides"]

Floats = NDArray[np.float32]
Rng = np.random.Generator

WIDTHS = (0.65, 1.4)
"""Shortest and longest training window, in windows of service: 1.3-2.8 s of 2 s, as the embedded
model's."""

POWER = 0.6
"""Labels are drawn in proportion to this power of their number of clips."""

RECORDED = 0.5
"""Share of "none" that comes from spans which a person labelled so, where there are any."""

SHARES = {
    "frozen": 0.3,
    "fidget": 0.2,
    "shrunk": 0.1,
    "cut": 0.1,
    "straddle": 0.08,
    "glitch": 0.06,
    "flicker": 0.08,
    "partial": 0.08,
}
"""How often each kind of "none" is made. `idle` is left out: it blends two poses of a clip, and
between two poses of somebody who walks lies a step."""

_SIDE = re.compile("left|right", re.IGNORECASE)


def sides(classes: Sequence[str]) -> Mirror:
    """What a mirror does to classes that name a side: "left" becomes "right" where both are there;
    where one is missing, that class is never mirrored."""
    index = {name.casefold(): i for i, name in enumerate(classes)}
    becomes, never = {}, []
    for i, name in enumerate(classes):
        other = _other_side(name)
        if other == name:
            continue
        partner = index.get(other.casefold())
        if partner is None:
            never.append(i)
        else:
            becomes[i] = partner
    return Mirror(becomes, tuple(never))


def _other_side(name: str) -> str:
    """The name with "left" for "right" and "right" for "left", where they are words: between
    spaces, hyphens, underscores or digits, or where a capital begins one (``waveLeft``)."""

    def other(match: re.Match[str]) -> str:
        found = match[0]
        before, after = name[: match.start()][-1:], name[match.end() :][:1]
        begins = not before.isalpha() or (before.islower() and found[0].isupper())
        ends = not after.isalpha() or (after.isupper() and found[-1].islower())
        if not (begins and ends):
            return found
        return "right" if found.lower() == "left" else "left"

    return _SIDE.sub(other, name)


class MadeNothing:
    """Makes windows of "none" out of clips of actions.

    Args:
        clips: of actions.
        window_s: length of a window of service; a clip that lasts longer may repeat what it shows,
            so that a piece of it would still be the action.
    """

    def __init__(self, clips: Sequence[Clip], window_s: float) -> None:
        self._clips = clips
        self._once = [clip for clip in clips if clip.span.duration_s <= window_s]
        self.kinds = {
            kind: share
            for kind, share in SHARES.items()
            if (kind != "cut" or self._once)
            and (kind not in TOGETHER or len({clip.label for clip in clips}) > 1)
        }

    def draw(self, rng: Rng, kind: str | None = None) -> Window:
        """Points `[T, 17, 2]` and scores `[T, 17]` of a window of `kind` (default: drawn)."""
        shares = np.array(list(self.kinds.values()))
        kind = kind or list(self.kinds)[int(rng.choice(len(shares), p=shares / shares.sum()))]
        first = _any(self._once if kind == "cut" else self._clips, rng)
        (points, scores), _ = first.window(first.span)
        seen = np.median(scores, axis=0)
        if not seen.any():
            seen = scores.max(axis=0)
        if kind in TOGETHER:
            others = [clip for clip in self._clips if clip.label != first.label]
            second = _any(others, rng)
            points = TOGETHER[kind](points, second.window(second.span)[0][0], rng)
        elif kind == "partial":
            hidden = np.setdiff1d(np.arange(17), partial_joints(rng))
            if np.delete(seen, hidden).any():
                seen[hidden] = 0
        else:
            points = ALONE[kind](points, rng)
        return points, np.repeat(seen[None].astype(np.float32), len(points), axis=0)


class ClipExamples:
    """An endless source of examples: windows as in service and shorter and longer ones, with an
    estimator's errors added.

    Args:
        clips: of the training part; those labelled ``none`` are recorded windows of it.
        classes: the labels in the order of the network's outputs.
        none: the class "none"; None = the network has none.
        shape: what the network takes.
        window_s: length of a window of service.
        none_share: of "none" among the examples.
    """

    def __init__(
        self,
        clips: Sequence[Clip],
        classes: Sequence[str],
        none: str | None,
        shape: HeatmapShape,
        window_s: float,
        none_share: float,
    ) -> None:
        self._index = {name: i for i, name in enumerate(classes)}
        self._none, self._shape, self._window_s = none, shape, window_s
        self._none_share = 0.0 if none is None else none_share
        self._mirror = sides(classes)
        self._cells = [[c for c in clips if c.label == name] for name in classes if name != none]
        self._recorded = [clip for clip in clips if clip.label == none]
        counts = np.array([len(cell) for cell in self._cells], dtype=float) ** POWER
        self._chances = counts / counts.sum()
        self._made = MadeNothing([clip for clip in clips if clip.label != none], window_s)

    def draw(self, rng: Rng) -> Example:
        """The next example."""
        if rng.random() >= self._none_share or self._none is None:
            cell = self._cells[int(rng.choice(len(self._chances), p=self._chances))]
            clip = _any(cell, rng)
            return self._take(self._windowed(clip, rng), clip.label, rng)
        if self._recorded and rng.random() < RECORDED:
            return self._take(self._windowed(_any(self._recorded, rng), rng), self._none, rng)
        return self._take(self._made.draw(rng), self._none, rng, hold=False)

    def _windowed(self, clip: Clip, rng: Rng) -> Window:
        for _ in range(4):
            window, presence = clip.window(self._span(clip, rng))
            if presence >= LEAST_PRESENCE and (window[1] > 0).any():
                return window
        return clip.window(clip.span)[0]

    def _span(self, clip: Clip, rng: Rng) -> Span:
        """A window within a long span; around a short one, or half to all of it."""
        width_s = self._window_s * rng.uniform(*WIDTHS)
        span = clip.span
        if span.duration_s < width_s:
            if rng.random() < 0.5:
                return _shifted(centred(clip, width_s), clip, rng)
            width_s = span.duration_s * rng.uniform(0.5, 1.0)
        start_s = span.start_s + rng.uniform(0, span.duration_s - width_s)
        return Span(start_s, start_s + width_s)

    def _take(self, window: Window, label: str, rng: Rng, hold: bool = True) -> Example:
        index = np.arange(len(window[0]))
        if hold and rng.random() < 0.3:
            index = held_ends(index, rng)
        index = index[sample_frames(len(index), self._shape.frames, rng)]
        points, scores = window[0][index], window[1][index]
        if not (scores > 0).any():
            points, scores = window[0][:1].repeat(len(index), 0), window[1].max(0, keepdims=True)
            scores = scores.repeat(len(index), 0)
        return distort(points, scores, self._index[label], self._shape, self._mirror, rng)


def _shifted(window: Span, clip: Clip, rng: Rng) -> Span:
    """The window moved so that the clip stays in it."""
    earlier_s = min(window.start_s - clip.room.start_s, window.end_s - clip.span.end_s)
    later_s = min(clip.room.end_s - window.end_s, clip.span.start_s - window.start_s)
    by_s = rng.uniform(-max(earlier_s, 0), max(later_s, 0))
    return Span(max(window.start_s + by_s, 0), window.end_s + by_s)


def _any(clips: Sequence[Clip], rng: Rng) -> Clip:
    return clips[int(rng.integers(len(clips)))]
