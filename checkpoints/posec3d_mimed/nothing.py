"""What is no action in this model's data: the gaps that were recorded between actions, and the
product's generators fed with the clips of one part of the split.

`turning` is never used in training: it measures what happens with a kind of "none" that the network
does not know.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from skeletons import LIVE_SCORES, Clip, Part, pick
from vocabulary import INDEX, PERIODIC

from perception.skeleton.training.nothing import (
    ALONE,
    FRAMES,
    TOGETHER,
    frozen,
    mixed_gap,
    partial_joints,
)

Floats = NDArray[np.float32]
Rng = np.random.Generator

SHARES = {
    "gap": 0.16,
    "mixed gap": 0.16,
    "frozen": 0.17,
    "idle": 0.12,
    "fidget": 0.07,
    "shrunk": 0.05,
    "cut": 0.09,
    "straddle": 0.07,
    "partial": 0.04,
    "glitch": 0.03,
    "flicker": 0.04,
}
HELD_OUT = "turning"


def turning(points: Floats, rng: Rng) -> Floats:
    """Held out from training: somebody who stands still and slowly turns on the spot by 20 to 70
    degrees (3D only)."""
    held = frozen(points, rng, 0.005)
    centre = held[:, [11, 12]].mean(axis=(0, 1))
    angle = np.radians(rng.choice([-1, 1]) * rng.uniform(20, 70)) * np.linspace(-0.5, 0.5, FRAMES)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    x, y, z = np.moveaxis(held - centre, -1, 0)
    return np.asarray(
        np.stack([cos * x + sin * z, y, cos * z - sin * x], axis=-1) + centre, dtype=np.float32
    )


class Nothing:
    """Draws clips of "none" made from the clips of one part of the split."""

    def __init__(self, part: Part) -> None:
        self._gaps, self._whole_gaps = part.gaps, part.whole_gaps
        self._all = part.actions
        self._idle = [c for c in part.actions if c.label not in PERIODIC | {INDEX["jump"]}]
        self._solid = [c for c in part.actions if c.points.shape[2] == 3]
        once = [c for c in part.actions if c.label not in PERIODIC]
        self._cut = [c for c in once if c.source in ("utd", "msr")]
        self._once = [c for c in once if c.source in ("utd", "msr", "flo")]
        self._by_source: dict[str, list[Clip]] = {}
        for clip in once:
            self._by_source.setdefault(clip.source, []).append(clip)

    def draw(self, rng: Rng, kind: str | None = None) -> tuple[Floats, Floats]:
        """Points `[T, 17, 2 or 3]` and scores `[T, 17]` of one clip of `kind` (default: drawn from
        SHARES)."""
        kind = kind or str(rng.choice(list(SHARES), p=list(SHARES.values())))
        scores = LIVE_SCORES
        if kind in ("gap", "whole gap"):
            points = pick(self._gaps if kind == "gap" else self._whole_gaps, rng).points
        elif kind == "mixed gap":
            points = mixed_gap(pick(self._gaps, rng).points, pick(self._gaps, rng).points, rng)
        elif kind == "partial":
            points = pick(self._all, rng).points
            scores = np.zeros(17, np.float32)
            scores[partial_joints(rng)] = 1
        elif kind in TOGETHER:
            first = pick(self._once, rng)
            second = pick([c for c in self._by_source[first.source] if c.label != first.label], rng)
            points = TOGETHER[kind](first.points, second.points, rng)
        else:
            make = turning if kind == HELD_OUT else ALONE[kind]
            people = {"frozen": self._all, "cut": self._cut, HELD_OUT: self._solid}
            points = make(pick(people.get(kind, self._idle), rng).points, rng)
        return points, np.repeat(scores[None], len(points), axis=0)
