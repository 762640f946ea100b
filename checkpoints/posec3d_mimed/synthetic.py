"""Jumping jacks, jumps, walking and running by forward kinematics, on recorded people's bones.

No public set at hand has jumping jacks, its jumps are few, and its walking and running are mostly
done on the spot in front of the camera; all of these are simple enough to be built from joint
angles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from kinematics import Angles, Bones, Floats, pose, still
from skeletons import Clip, pick
from vocabulary import OF_RAW

Rng = np.random.Generator

FPS = 30.0
_G = 9.81


def jumping_jacks(bones: Bones, rng: Rng) -> Floats:
    """One to three jacks at 0.8-1.7 a second, some with a pause before or after."""
    rate, cycles = rng.uniform(0.8, 1.7), rng.uniform(1.0, 3.0)
    before, after = rng.uniform(0, 0.5, 2) * (rng.random(2) < 0.35)
    time = np.arange(0, before + cycles / rate + after, 1 / FPS)
    phase = np.clip((time - before) * rate, 0, cycles) + (rng.random() < 0.3) * 0.5
    frames, sharp = len(time), rng.uniform(0.6, 1.3)

    def opened(lag: float) -> Floats:
        return np.asarray((0.5 - 0.5 * np.cos(2 * np.pi * (phase - lag))) ** sharp)

    arms = np.stack([opened(rng.normal(0, 0.02)) for _ in range(2)], axis=-1)
    legs = opened(rng.normal(0.02, 0.03))
    low, high = np.radians(rng.uniform(3, 25)), np.radians(rng.uniform(115, 178))
    bounce = np.abs(np.sin(2 * np.pi * (phase + rng.normal(0, 0.04)))) * (
        (phase > 0) & (phase < cycles)
    )
    bent = np.radians(rng.uniform(5, 25)) * (1 - bounce) + 0.03
    return pose(
        bones,
        Angles(
            lean=still(frames, rng.normal(0.03, 0.05)),
            raise_side=low + (high - low) * arms,
            raise_front=still(frames, rng.normal(0.1, 0.12)),
            elbow=np.radians(rng.uniform(0, 35)) * (0.4 + 0.6 * arms),
            spread=np.radians(rng.uniform(0, 5)) + np.radians(rng.uniform(10, 32)) * legs,
            thigh=bent * 0.5,
            knee=bent,
            height=rng.uniform(0.01, 0.12) * bounce,
            ahead=still(frames),
        ),
    )


def jump(bones: Bones, rng: Rng) -> Floats:
    """Crouch with the arms back (or, one in three, raised beforehand), take off with the arms swung
    up, fly, land in a crouch; on the spot or forwards; some head first."""
    flight, deep = rng.uniform(0.3, 0.65), rng.uniform(0.4, 1.1)
    stand, crouch, push, land, rise = rng.uniform(
        [0, 0.2, 0.12, 0.12, 0], [0.4, 0.5, 0.25, 0.3, 0.4]
    )
    keys = np.cumsum([0, stand, crouch, push, flight / 2, flight / 2, land, rise])
    time = np.arange(0, keys[-1], 1 / FPS)
    frames, start = len(time), keys[3]
    swing, tuck, dive = rng.uniform(0.8, 3.0), rng.uniform(0, 1.2), float(rng.random() < 0.3)

    def track(*values: float) -> Floats:
        at = np.clip(np.searchsorted(keys, time, side="right") - 1, 0, len(keys) - 2)
        share = (time - keys[at]) / np.maximum(keys[at + 1] - keys[at], 1e-6)
        share, value = share * share * (3 - 2 * share), np.asarray(values)
        return np.asarray(value[at] * (1 - share) + value[at + 1] * share)

    air = np.clip((time - start) / flight, 0, 1)
    lean = rng.uniform(0.2, 0.8)
    reach = rng.random() < 0.35
    back = rng.uniform(0.7, 1.0) * swing if reach else -rng.uniform(0, 1.0)
    bend = rng.uniform(0.3, 2.2) if reach else rng.uniform(0.1, 0.8)
    sides = 1 + rng.normal(0, 0.12, (2, 2))
    front = track(0.1, 0.1, back, swing, swing * rng.uniform(0.7, 1.1), 0.9, 0.6, 0.1)
    elbow = track(0.2, 0.3, bend, 0.6 * bend, 0.5 * bend, 0.4, 0.5, 0.2)
    knee = track(0.1, 0.1, 1.6 * deep, 0.1, tuck, 0.4 * deep, 1.5 * deep, 0.2)
    return pose(
        bones,
        Angles(
            lean=track(
                0.05, 0.05, lean, 0.1 + 0.8 * dive, 0.15 + 1.2 * dive, 0.3 + 0.9 * dive, lean, 0.1
            ),
            raise_side=still(frames, rng.uniform(0, 0.25)),
            raise_front=front[:, None] * sides[0],
            elbow=elbow[:, None] * sides[1],
            spread=still(frames, rng.uniform(0, 0.12)),
            thigh=track(0.05, 0.05, 0.8 * deep, 0.0, 0.6 * tuck, 0.4 * deep, 0.75 * deep, 0.1),
            knee=knee,
            height=(_G * flight**2 / 8 * 4 * air * (1 - air)).astype(np.float32),
            ahead=rng.uniform(0, 1.6) * (rng.random() < 0.6) * air,
        ),
    )


@dataclass(frozen=True)
class Gait:
    """What tells walking from running, angles in degrees.

    Attributes:
        steps_hz: steps a second, least and most.
        stride_m: metres a step.
        hip: half of the thigh's swing.
        swing_knee: bend of the knee in mid-swing.
        stance_knee: bend of the knee when it bears the weight.
        arm: half of the upper arm's swing.
        elbow: bend of the elbow.
        lean: trunk forward.
        flight_m: metres that both feet leave the floor.
    """

    steps_hz: tuple[float, float]
    stride_m: tuple[float, float]
    hip: tuple[float, float]
    swing_knee: tuple[float, float]
    stance_knee: tuple[float, float]
    arm: tuple[float, float]
    elbow: tuple[float, float]
    lean: tuple[float, float]
    flight_m: tuple[float, float]


GAITS = {
    "walk": Gait(
        (1.3, 2.2), (0.45, 0.85), (16, 30), (45, 68), (3, 16), (6, 35), (3, 35), (-2, 8), (0, 0)
    ),
    "run": Gait(
        (2.3, 3.4),
        (0.6, 1.5),
        (22, 48),
        (75, 125),
        (20, 45),
        (15, 45),
        (55, 115),
        (2, 18),
        (0.02, 0.1),
    ),
}
"""Ranges after Perry and Burnfield, *Gait Analysis*, 2010 (walking), and Novacheck, *The
biomechanics of running*, Gait & Posture 7, 1998."""

GAIT_S = 3.0


def _bump(phase: Floats, centre: float, width: float) -> Floats:
    """A bell over the gait cycle (0 = the foot strikes, 1 = it strikes again)."""
    away = (phase - centre + 0.5) % 1.0 - 0.5
    return np.asarray(np.exp(-((away / width) ** 2)))


def walk_or_run(bones: Bones, kind: str, rng: Rng) -> Floats:
    """Three seconds of getting on, or (one in four) of doing so on the spot."""
    gait = GAITS[kind]
    steps_hz, stride_m = rng.uniform(*gait.steps_hz), rng.uniform(*gait.stride_m)
    time = np.arange(0, GAIT_S, 1 / FPS)
    cycle = time * steps_hz / 2 + rng.random()
    phase = np.stack([cycle % 1.0, (cycle + 0.5) % 1.0], axis=-1)
    toe_off = 0.72 if kind == "walk" else 0.66
    thigh = np.radians(rng.uniform(*gait.hip)) * np.cos(2 * np.pi * (phase - 0.93)) + 0.08
    knee = np.radians(rng.uniform(*gait.swing_knee)) * _bump(phase, toe_off, 0.13)
    knee = knee + np.radians(rng.uniform(*gait.stance_knee)) * _bump(phase, 0.14, 0.1) + 0.05
    arm = -np.radians(rng.uniform(*gait.arm)) * np.cos(2 * np.pi * (phase - 0.95))
    elbow = np.radians(rng.uniform(*gait.elbow)) + 0.3 * np.maximum(arm, 0)
    in_place = rng.random() < 0.25
    return pose(
        bones,
        Angles(
            lean=still(len(time), float(np.radians(rng.uniform(*gait.lean)))),
            raise_side=still(len(time), rng.uniform(0.03, 0.25)),
            raise_front=arm + rng.normal(0, 0.08),
            elbow=elbow,
            spread=still(len(time), rng.uniform(-0.02, 0.06)),
            thigh=thigh,
            knee=knee,
            height=rng.uniform(*gait.flight_m) * _bump((2 * phase[:, 0]) % 1.0, 0.85, 0.2),
            ahead=(0.0 if in_place else steps_hz * stride_m) * time,
        ),
    )


def synthetic_clip(kind: str, people: list[Clip], rng: Rng) -> Clip:
    """A fresh clip of `kind` (a key of `MAKERS`) with the bones of one of `people` (3D clips)."""
    person = pick(people, rng)
    points = MAKERS[kind](Bones.of(person.points), rng)
    return Clip(points, OF_RAW["synthetic", kind], "synthetic", kind, FPS, person.subject)


def jump_with_run_up(bones: Bones, rng: Rng) -> Floats:
    """A jump; two in five come out of a few steps, as off a kerb or an edge."""
    jumped = jump(bones, rng)
    if rng.random() >= 0.4:
        return jumped
    steps = walk_or_run(bones, "walk" if rng.random() < 0.6 else "run", rng)
    steps = steps[: int(rng.uniform(0.3, 0.7) * FPS)]
    jumped = jumped + (steps[-1, [11, 12]] - jumped[0, [11, 12]]).mean(axis=0) * [1, 0, 1]
    share = np.linspace(0, 1, 6)[1:-1, None, None]
    bridge = steps[-1] * (1 - share) + jumped[0] * share
    return np.concatenate([steps, bridge, jumped]).astype(np.float32)


MAKERS: dict[str, Callable[[Bones, Rng], Floats]] = {
    "jumping jack": jumping_jacks,
    "jump": jump_with_run_up,
    "walk": lambda bones, rng: walk_or_run(bones, "walk", rng),
    "run": lambda bones, rng: walk_or_run(bones, "run", rng),
}
