"""Forward kinematics: joint angles on a recorded person's bones become joints in space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

_CHAINS = ((5, 7, 9, 11, 13, 15, 1.0), (6, 8, 10, 12, 14, 16, -1.0))
"""Shoulder, elbow, wrist, hip, knee, ankle and the sign of X, for the left and the right side."""


@dataclass(frozen=True)
class Bones:
    """Lengths in metres (medians over a recorded clip)."""

    trunk: float
    neck: float
    shoulder: float
    hip: float
    upper_arm: float
    forearm: float
    thigh: float
    shin: float

    @classmethod
    def of(cls, points: Floats) -> Bones:
        """Measure the bones in `[T, 17, 3]`."""

        def length(a: Floats, b: Floats) -> float:
            return float(np.median(np.linalg.norm(a - b, axis=-1)))

        j = points.transpose(1, 0, 2)
        shoulders, hips = (j[5] + j[6]) / 2, (j[11] + j[12]) / 2
        return cls(
            trunk=length(shoulders, hips),
            neck=length(j[0], shoulders),
            shoulder=length(j[5], j[6]) / 2,
            hip=length(j[11], j[12]) / 2,
            upper_arm=(length(j[5], j[7]) + length(j[6], j[8])) / 2,
            forearm=(length(j[7], j[9]) + length(j[8], j[10])) / 2,
            thigh=(length(j[11], j[13]) + length(j[12], j[14])) / 2,
            shin=(length(j[13], j[15]) + length(j[14], j[16])) / 2,
        )


@dataclass(frozen=True)
class Angles:
    """Joint angles in radians over time, each `[T]` (or `[T, 2]`: left, right).

    Attributes:
        lean: trunk forward.
        raise_side: arms from down (0) sideways to overhead (pi).
        raise_front: arms from down (0) forward to overhead (pi); negative = behind.
        elbow: bend of the elbows.
        spread: legs from straight down outwards.
        thigh: thighs forward.
        knee: bend of the knees.
        height: metres of the lower ankle above the floor.
        ahead: metres travelled forward.
    """

    lean: Floats
    raise_side: Floats
    raise_front: Floats
    elbow: Floats
    spread: Floats
    thigh: Floats
    knee: Floats
    height: Floats
    ahead: Floats


def _side(values: Floats, side: int) -> Floats:
    return values[:, side] if values.ndim == 2 else values


def _limb(sideways: Floats, forward: Floats, sign: float) -> Floats:
    """Unit vectors `[T, 3]` of a limb: turned outwards by `sideways` in the frontal plane, forward
    in the sagittal."""
    x = sign * np.sin(sideways)
    return np.stack(
        [x, -np.cos(sideways) * np.cos(forward), np.cos(sideways) * np.sin(forward)], axis=-1
    )


def pose(bones: Bones, angles: Angles) -> Floats:
    """`[T, 17, 3]` in metres: facing the camera (Z), left shoulder at +X, standing on Y = 0."""
    frames = len(angles.lean)
    out = np.zeros((frames, 17, 3))
    up = np.stack([np.zeros(frames), np.cos(angles.lean), np.sin(angles.lean)], axis=-1)
    for side, (shoulder, elbow, wrist, hip, knee, ankle, sign) in enumerate(_CHAINS):
        across = np.array([sign, 0, 0])
        out[:, shoulder] = bones.trunk * up + bones.shoulder * across
        out[:, hip] = bones.hip * across
        raised, front = _side(angles.raise_side, side), _side(angles.raise_front, side)
        bend, spread = _side(angles.elbow, side), _side(angles.spread, side)
        out[:, elbow] = out[:, shoulder] + bones.upper_arm * _limb(raised, front, sign)
        inwards = np.where(raised > 0.3, bend, 0)
        out[:, wrist] = out[:, elbow] + bones.forearm * _limb(
            raised + inwards, front + bend - inwards, sign
        )
        out[:, knee] = out[:, hip] + bones.thigh * _limb(spread, _side(angles.thigh, side), sign)
        folded = _side(angles.thigh, side) - _side(angles.knee, side)
        out[:, ankle] = out[:, knee] + bones.shin * _limb(spread, folded, sign)
    out[:, 0] = (bones.trunk + bones.neck) * up
    out[..., 1] += (angles.height - out[:, [15, 16], 1].min(axis=1))[:, None]
    out[..., 2] += angles.ahead[:, None]
    return out.astype(np.float32)


def still(frames: int, value: float = 0.0) -> Floats:
    """An angle that does not change."""
    return np.full(frames, value, np.float32)
