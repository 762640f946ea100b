"""What is no action: the generators of the class "none".

A classifier of actions alone names an action for anything that it is shown. So the network also
learns frozen and idling people, the gaps that were recorded between actions, small parts of
actions, two actions in one window, single limbs and broken tracks. `turning` is never used in
training: it measures what happens with a kind of "none" that the network does not know.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from skeletons import LIVE_SCORES, Clip, Part, pick
from vocabulary import INDEX, PERIODIC

from perception.skeleton.training.nothing import body_size

Floats = NDArray[np.float32]
Rng = np.random.Generator

FRAMES = 30
"""Length of the generated clips: two seconds at the 15 frames a second that poses are estimated
at."""

SHARES = {
    "gap": 0.16,
    "frozen": 0.25,
    "idle": 0.14,
    "fidget": 0.09,
    "shrunk": 0.08,
    "cut": 0.07,
    "straddle": 0.06,
    "partial": 0.05,
    "glitch": 0.04,
    "flicker": 0.06,
}
HELD_OUT = "turning"

_PARTIAL = (
    (0, 5, 6),
    (0, 5, 6, 7, 8),
    (13, 14, 15, 16),
    (11, 12, 13, 14),
    (5, 7, 9),
    (6, 8, 10),
    (0, 5, 6, 11, 12),
)
_LIMBS = ((5, 7, 9), (6, 8, 10), (11, 13, 15), (12, 14, 16))


def smooth_drift(
    frames: int, shape: tuple[int, ...], rng: Rng, amplitude: float, knots: int = 4
) -> Floats:
    """`[frames, *shape]`: a slow wander through `knots` normal values of the given standard
    deviation."""
    values = rng.normal(0, amplitude, (knots, *shape))
    at = np.linspace(0, knots - 1, frames)
    index = np.minimum(at.astype(int), knots - 2)
    share = (at - index).reshape(-1, *(1,) * len(shape))
    share = share * share * (3 - 2 * share)
    return np.asarray(values[index] * (1 - share) + values[index + 1] * share, dtype=np.float32)


def frozen(
    points: Floats, rng: Rng, jitter: float | None = None, at: float | None = None
) -> Floats:
    """One pose held, with white noise and drift up to `jitter` of the body's size, and a slow
    camera."""
    frame = int(rng.integers(len(points))) if at is None else int(at * (len(points) - 1))
    held = np.repeat(points[frame : frame + 1], FRAMES, axis=0)
    size, shape = body_size(held), held.shape[1:]
    amount = rng.uniform(0, 0.04) if jitter is None else jitter
    white = rng.normal(0, amount * size * (rng.random() if jitter is None else 0.5), held.shape)
    camera = smooth_drift(FRAMES, (1, shape[1]), rng, amount * size)
    return np.asarray(
        held + white + smooth_drift(FRAMES, shape, rng, amount * 0.5 * size) + camera,
        dtype=np.float32,
    )


def idle(points: Floats, rng: Rng) -> Floats:
    """A slow change between two similar poses, once or there and back.

    Not for poses of a periodic action: between two of those lies a step, or a wave.
    """
    size = body_size(points)
    first = int(rng.integers(len(points)))
    second = first
    for _ in range(6):
        other = int(rng.integers(len(points)))
        if 0.02 * size < np.linalg.norm(points[other] - points[first], axis=-1).max() < 0.12 * size:
            second = other
            break
    t = np.linspace(0, 1, FRAMES).reshape(-1, 1, 1)
    share = t * t * (3 - 2 * t) if rng.random() < 0.5 else 0.5 - 0.5 * np.cos(2 * np.pi * t)
    moved = points[first] * (1 - share) + points[second] * share
    moved = moved + smooth_drift(FRAMES, moved.shape[1:], rng, 0.006 * size)
    moved = moved + smooth_drift(FRAMES, (1, moved.shape[2]), rng, 0.01 * size)
    return np.asarray(
        moved + rng.normal(0, rng.uniform(0, 0.008) * size, moved.shape), dtype=np.float32
    )


def fidget(points: Floats, rng: Rng) -> Floats:
    """A pose held while one or two limbs wander a little and the weight shifts."""
    held = np.repeat(points[[int(rng.integers(len(points)))]], FRAMES, axis=0)
    size = body_size(held)
    for limb in rng.permutation(4)[: int(rng.integers(1, 3))]:
        wander = smooth_drift(
            FRAMES, (held.shape[2],), rng, rng.uniform(0.01, 0.04) * size, int(rng.integers(4, 9))
        )
        for joint, share in zip(_LIMBS[limb], (0.0, 0.5, 1.0), strict=True):
            held[:, joint] += share * wander
    sway = smooth_drift(
        FRAMES, (held.shape[2],), rng, rng.uniform(0, 0.02) * size, int(rng.integers(4, 7))
    )
    held[:, :13] += sway[:, None]
    held[:, 13:15] += 0.5 * sway[:, None]
    return np.asarray(
        held + rng.normal(0, rng.uniform(0, 0.01) * size, held.shape), dtype=np.float32
    )


def shrunk(points: Floats, rng: Rng) -> Floats:
    """An action's motion made so small that it is only a stir."""
    middle = points[[int(rng.integers(len(points)))]]
    stir = middle + rng.uniform(0.03, 0.1) * (points - middle)
    return np.asarray(
        stir + rng.normal(0, rng.uniform(0, 0.008) * body_size(stir), stir.shape), dtype=np.float32
    )


def cut(points: Floats, rng: Rng) -> Floats:
    """Less than a third of an action, from its beginning or its end."""
    total = len(points)
    width = max(5, int(total * rng.uniform(0.12, 0.32)))
    margin = int(rng.uniform(0, 0.08) * total)
    start = margin if rng.random() < 0.5 else total - width - margin
    start = min(max(start, 0), total - width)
    return points[start : start + width]


def straddle(first: Floats, second: Floats, rng: Rng) -> Floats:
    """The end of one action and the beginning of the next, joined by a short movement."""
    end = first[-max(5, int(len(first) * rng.uniform(0.25, 0.4))) :]
    start = second[: max(5, int(len(second) * rng.uniform(0.25, 0.4)))]
    hips = [11, 12]
    if end.shape[2] == 2:
        start = (start - start[:, hips].mean(axis=1, keepdims=True)) * (
            body_size(end) / body_size(start)
        )
        start = start + end[-1:, hips].mean(axis=1, keepdims=True)
    else:
        start = (
            start
            - start[:1, hips].mean(axis=1, keepdims=True)
            + end[-1:, hips].mean(axis=1, keepdims=True)
        )
    share = np.linspace(0, 1, 6)[1:-1].reshape(-1, 1, 1)
    bridge = end[-1] * (1 - share) + start[0] * share
    return np.concatenate([end, bridge, start]).astype(np.float32)


def glitch(first: Floats, second: Floats, rng: Rng) -> Floats:
    """A track that jumps once or twice between two held poses, as after a wrong assignment."""
    a, b = frozen(first, rng, 0.01), frozen(second, rng, 0.01)
    hips = [11, 12]
    b = (b - b[:, hips].mean(axis=(0, 1))) * (body_size(a) / body_size(b)) + a[:, hips].mean(
        axis=(0, 1)
    )
    b = b + rng.normal(0, 0.2 * body_size(a), (1, 1, a.shape[2]))
    swap = np.zeros(FRAMES, dtype=bool)
    start = int(rng.integers(3, FRAMES - 3))
    swap[start : start + int(rng.integers(2, FRAMES))] = True
    return np.where(swap[:, None, None], b, a).astype(np.float32)


def flicker(first: Floats, second: Floats, rng: Rng) -> Floats:
    """A held pose in which some limbs jump to and fro, as when an estimator wavers between two
    readings or between the limbs of two people."""
    held = frozen(first, rng, rng.uniform(0.003, 0.02))
    other = second[int(rng.integers(len(second)))]
    hips = [11, 12]
    other = (other - other[hips].mean(axis=0)) * (body_size(held[:1]) / body_size(other[None]))
    other = other + held[:, hips].mean(axis=(0, 1))
    for limb in rng.permutation(4)[: int(rng.integers(1, 4))]:
        stays = rng.uniform(0.5, 0.93)
        away = np.zeros(FRAMES, dtype=bool)
        for frame in range(1, FRAMES):
            away[frame] = away[frame - 1] ^ (rng.random() > stays)
        joints = list(_LIMBS[limb][1:])
        share = (away * rng.uniform(0.4, 1.0))[:, None, None]
        held[:, joints] = held[:, joints] * (1 - share) + other[joints] * share
    return held.astype(np.float32)


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
        elif kind == "partial":
            points = pick(self._all, rng).points
            scores = np.zeros(17, np.float32)
            scores[list(_PARTIAL[int(rng.integers(len(_PARTIAL)))])] = 1
        elif kind in ("straddle", "glitch", "flicker"):
            first = pick(self._once, rng)
            second = pick([c for c in self._by_source[first.source] if c.label != first.label], rng)
            join = {"straddle": straddle, "glitch": glitch, "flicker": flicker}[kind]
            points = join(first.points, second.points, rng)
        else:
            make: Callable[[Floats, Rng], Floats] = {
                "frozen": frozen,
                "idle": idle,
                "fidget": fidget,
                "shrunk": shrunk,
                "cut": cut,
                "turning": turning,
            }[kind]
            people = {"frozen": self._all, "cut": self._cut, "turning": self._solid}.get(
                kind, self._idle
            )
            points = make(pick(people, rng).points, rng)
        return points, np.repeat(scores[None], len(points), axis=0)
