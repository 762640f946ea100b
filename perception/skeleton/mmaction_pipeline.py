"""Reads the ``test_pipeline`` of an mmaction2 config: each transform and setting is known, or told.

The settings are those of mmaction2 1.2.0. Those that decide nothing about heatmaps
(``interpolation``, ``collapse``, what PackActionInputs collects) are passed over.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from perception.errors import BadInput
from perception.skeleton.mmaction_transforms import (
    CenterCrop,
    PoseCompact,
    Resize,
    Step,
    TestPipeline,
)

__all__ = ["read_pipeline"]

_JOINTS = 17


class _Setting(NamedTuple):
    """What a setting takes.

    Args:
        words: in a sentence.
        fits: whether a value is one.
        needed: whether it has no default.
    """

    words: str
    fits: Callable[[Any], bool]
    needed: bool = False


def _is_whole(value: Any, least: int = 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _are(value: Any, fits: Callable[[Any], bool], count: int | None = None) -> bool:
    listed = isinstance(value, list | tuple) and count in (None, len(value))
    return listed and all(map(fits, value))


def _is_scale(value: Any) -> bool:
    return _are(value, lambda side: _is_whole(side) or side == -1, 2) and max(value) > 0


def _is_ratio(value: Any) -> bool:
    return all(each is None or (_is_number(each) and each > 0) for each in _pair(value))


def _is_joint(value: Any) -> bool:
    return _is_whole(value, 0) and value < _JOINTS


_ANY = _Setting("anything", lambda _: True)
_FLAG = _Setting("True or False", lambda value: isinstance(value, bool))
_NO = _Setting("False: joints are not resized later on", lambda value: value is False)
_AMOUNT = _Setting("a number from 0", _is_number)
_COUNT = _Setting("a whole number from 1", _is_whole)
_ROWS = _Setting("a list of whole numbers", lambda value: _are(value, lambda v: _is_whole(v, 0)))
_SETTINGS: dict[str, dict[str, _Setting]] = {
    "UniformSampleFrames": {
        "clip_len": _COUNT._replace(needed=True),
        "num_clips": _COUNT,
        "test_mode": _FLAG,
        "seed": _Setting("a whole number from 0", lambda value: _is_whole(value, 0)),
    },
    "PoseDecode": {},
    "PoseCompact": {
        "padding": _AMOUNT,
        "threshold": _AMOUNT,
        "hw_ratio": _Setting("None, a number or two, height over width", _is_ratio),
        "allow_imgpad": _FLAG,
    },
    "Resize": {
        "scale": _Setting("two whole numbers, width and height", _is_scale, needed=True),
        "keep_ratio": _FLAG,
        "interpolation": _ANY,
        "lazy": _NO,
    },
    "CenterCrop": {
        "crop_size": _Setting(
            "a whole number or two, width and height",
            lambda value: _are(_pair(value), _is_whole, 2),
            needed=True,
        ),
        "lazy": _NO,
    },
    "GeneratePoseTarget": {
        "sigma": _Setting("a number over 0", lambda value: _is_number(value) and value > 0),
        "use_score": _FLAG,
        "with_kp": _FLAG,
        "with_limb": _FLAG,
        "skeletons": _Setting(
            "a list of pairs of joints, each from 0 to 16",
            lambda value: _are(value, lambda pair: _are(pair, _is_joint, 2)),
        ),
        "double": _FLAG,
        "left_kp": _ROWS,
        "right_kp": _ROWS,
        "left_limb": _ROWS,
        "right_limb": _ROWS,
        "scaling": _AMOUNT,
    },
    "FormatShape": {"input_format": _ANY, "collapse": _FLAG},
    "PackActionInputs": {"collect_keys": _ANY, "meta_keys": _ANY, "algorithm_keys": _ANY},
}
_ENVELOPE = ("type", "_scope_")
"""What mmengine's registry reads of a transform."""

_COCO_LIMBS = (
    *((0, 1), (0, 2), (1, 3), (2, 4), (0, 5), (5, 7), (7, 9), (0, 6), (6, 8)),
    *((8, 10), (5, 11), (11, 13), (13, 15), (6, 12), (12, 14), (14, 16), (11, 12)),
)
_SIDES = {
    "left_kp": (1, 3, 5, 7, 9, 11, 13, 15),
    "right_kp": (2, 4, 6, 8, 10, 12, 14, 16),
    "left_limb": (0, 2, 4, 5, 6, 10, 11, 12),
    "right_limb": (1, 3, 7, 8, 9, 13, 14, 15),
}
"""GeneratePoseTarget's defaults."""


def read_pipeline(transforms: Sequence[Mapping[str, Any]], where: str) -> TestPipeline:
    """The ``test_pipeline`` of an mmaction2 config.

    Args:
        transforms: as the config has them.
        where: names the config in messages.

    Raises:
        BadInput: a transform or a setting that is not known here, or a value that a setting does
            not take; names it.
    """
    place = f"test pipeline of {where}"
    by_type: dict[str, Mapping[str, Any]] = {}
    steps: list[Step] = []
    for transform in transforms:
        kind = _checked(transform, place)
        by_type[kind] = transform
        if kind in ("PoseCompact", "Resize", "CenterCrop"):
            steps.append(_step(kind, transform))
    shape = by_type.get("FormatShape", {}).get("input_format")
    drawn = {"UniformSampleFrames", "GeneratePoseTarget"} <= by_type.keys()
    if not drawn or shape != "NCTHW_Heatmap":
        raise BadInput(
            f"The {place} makes no heatmaps: it needs UniformSampleFrames, GeneratePoseTarget and "
            "FormatShape with input_format='NCTHW_Heatmap'."
        )
    sampling, target = by_type["UniformSampleFrames"], by_type["GeneratePoseTarget"]
    return _pipeline(sampling, tuple(steps), target, place)


def _checked(transform: Any, place: str) -> str:
    """The transform's type, when that and every setting is known."""
    given = dict(transform) if isinstance(transform, Mapping) else {}
    kind = str(given.get("type", transform)).rpartition(".")[2]
    known = _SETTINGS.get(kind)
    if known is None:
        raise BadInput(
            f"The {place} has the transform {kind!r}; PoseC3D on heatmaps is served with "
            f"{', '.join(sorted(_SETTINGS))}."
        )
    for name, value in given.items():
        if name in _ENVELOPE:
            continue
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise BadInput(
                f"{kind} in the {place} has the setting {name!r}, which is not known.{hint} "
                f"It takes {', '.join(known) or 'no settings'}."
            )
        if not known[name].fits(value):
            raise BadInput(
                f"{kind} in the {place} has {name}={value!r}; it takes {known[name].words}."
            )
    for name, setting in known.items():
        if setting.needed and name not in given:
            raise BadInput(f"{kind} in the {place} lacks {name}: {setting.words}.")
    return kind


def _step(kind: str, given: Mapping[str, Any]) -> Step:
    if kind == "PoseCompact":
        ratio = given.get("hw_ratio")
        pair = None if ratio is None else _pair(ratio)
        return PoseCompact(
            given.get("padding", 0.25),
            given.get("threshold", 10),
            pair,
            given.get("allow_imgpad", True),
        )
    if kind == "Resize":
        return Resize(tuple(given["scale"]), given.get("keep_ratio", True))
    return CenterCrop(_pair(given["crop_size"]))


def _pair(value: Any) -> tuple[Any, Any]:
    return tuple(value) if isinstance(value, list | tuple) else (value, value)


def _pipeline(
    sampling: Mapping[str, Any], steps: tuple[Step, ...], target: Mapping[str, Any], place: str
) -> TestPipeline:
    points, lines = target.get("with_kp", True), target.get("with_limb", False)
    if points == lines or target.get("scaling", 1.0) != 1.0:
        raise BadInput(
            f"GeneratePoseTarget in the {place} is served with either with_kp or with_limb and "
            f"with scaling=1, not with_kp={points}, with_limb={lines}, "
            f"scaling={target.get('scaling', 1.0)}."
        )
    limbs = tuple((int(a), int(b)) for a, b in target.get("skeletons", _COCO_LIMBS))
    suffix, channels = ("kp", _JOINTS) if points else ("limb", len(limbs))
    left, right = (target.get(k, _SIDES[k]) for k in (f"left_{suffix}", f"right_{suffix}"))
    if len(left) != len(right) or not all(each < channels for each in (*left, *right)):
        raise BadInput(
            f"GeneratePoseTarget in the {place} has left_{suffix}={left!r} and "
            f"right_{suffix}={right!r}; they take as many numbers, each under {channels}."
        )
    swapped = list(range(channels))
    for a, b in zip(left, right, strict=True):
        swapped[a], swapped[b] = b, a
    return TestPipeline(
        frames=sampling["clip_len"],
        clips=sampling.get("num_clips", 1),
        steps=steps,
        sigma=target.get("sigma", 0.6),
        use_score=target.get("use_score", True),
        limbs=None if points else limbs,
        double=target.get("double", False),
        swapped=tuple(swapped),
        seed=sampling.get("seed", 255),
    )
