"""A recognizer's confidence fitted to labelled cues, and measured on cues it was not fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fusion.calibration import (
    METHODS,
    Labelled,
    cross_validated,
    expected_calibration_error,
    fit,
    reliability,
)
from perception.cue import CueTimeline, CueTrack, Origin, Source
from perception.errors import BadInput, UnknownName
from reasoning.tools import review
from reasoning.tools.calibration import Fitted, pinned
from reasoning.tools.labelled import Row, by_review, by_rows, read_rows, review_path, verdicts_of

__all__ = ["LEAST_CUES", "Fits", "fit_all"]

LEAST_CUES = 30
"""Under it a fitted map says more of chance than of the recognizer: three cues in each tenth."""


@dataclass(frozen=True, slots=True)
class Fits:
    """What was fitted, and what could not be.

    Args:
        too_few: by name of the recognizer, how many cues are labelled.
        gone: by name of the review, how many of its corrections are of cues that are no longer
            there.
    """

    fitted: list[Fitted]
    too_few: dict[str, int]
    gone: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Found:
    """The labelled cues of each recognizer and checkpoint; ``gone`` as of ``Fits``."""

    groups: list[tuple[Source, list[Labelled]]]
    gone: dict[str, int]


def fit_all(
    paths: Sequence[Path], labels: Path | None, kind: str | None, method: str | None
) -> Fits:
    """Fit every recognizer of which enough cues are labelled.

    Args:
        paths: NAME.cues.json files.
        labels: a CSV (``reasoning.tools.labelled``); None = the reviews beside the timelines.
        kind: only this kind of cue; None = every kind.
        method: None = temperature for recognizers that name alternatives, isotonic for the rest.

    Raises:
        UnknownName: no such method or kind.
        BadInput: a file is none, a review is of another video, no cue is labelled, or too few of
            every recognizer.
    """
    if method is not None and method not in METHODS:
        raise UnknownName("method of calibration", method, METHODS)
    found = _grouped(paths, labels, kind)
    groups = found.groups
    if not groups:
        raise BadInput(
            f"None of the cues is labelled{f' among the {kind} cues' if kind else ''}; give "
            "--labels FILE.csv, or a NAME.review.json with verdicts beside NAME.cues.json."
            + "".join(f" {review.aside_words(*each)}" for each in found.gone.items())
        )
    few = {source.name: len(labelled) for source, labelled in groups if len(labelled) < LEAST_CUES}
    if len(few) == len(groups):
        name = max(few, key=few.__getitem__)
        raise BadInput(
            f"Too few cues of {name} are labelled: {few[name]}; a calibration takes at least "
            f"{LEAST_CUES}."
        )
    fitted = [
        _fit(source, labelled, method, len(paths))
        for source, labelled in groups
        if len(labelled) >= LEAST_CUES
    ]
    return Fits(fitted, few, found.gone)


def _grouped(paths: Sequence[Path], labels: Path | None, kind: str | None) -> _Found:
    rows = read_rows(labels) if labels else None
    if rows and len(paths) > 1 and any(not row.video for row in rows):
        raise BadInput(
            f"{str(labels)!r} has rows without a video; for {len(paths)} timelines the column "
            "'video' tells which a row belongs to."
        )
    groups: dict[tuple[str, str], tuple[Source, list[Labelled]]] = {}
    gone: dict[str, int] = {}
    for path in paths:
        timeline = CueTimeline.read(path)
        kinds = sorted({track.kind for track in timeline.tracks})
        if kind is not None and kind not in kinds:
            raise UnknownName(f"kind of cue in {path.name}", kind, kinds)
        wanted = [kind] if kind else kinds
        labelled = (
            _by_table(path, timeline, wanted, rows)
            if rows is not None
            else _by_review(path, timeline, wanted, gone)
        )
        for track, one in labelled:
            if track.origin is Origin.RECOGNIZER:
                key = (track.source.name, pinned(track.source))
                groups.setdefault(key, (track.source, []))[1].append(one)
    return _Found([groups[key] for key in sorted(groups)], gone)


def _by_table(
    path: Path, timeline: CueTimeline, kinds: Sequence[str], rows: tuple[Row, ...]
) -> list[tuple[CueTrack, Labelled]]:
    """By the table for the kinds that it speaks of."""
    told = {row.kind for row in rows}
    if "" in told and len(kinds) > 1:
        raise BadInput(
            f"The labels do not say of which kind they are, and {path.name} has "
            f"{', '.join(kinds)}; give --kind, or a column 'kind'."
        )
    spoken = [each for each in kinds if each in told or "" in told]
    return [pair for each in spoken for pair in by_rows(timeline, each, rows)]


def _by_review(
    path: Path, timeline: CueTimeline, kinds: Sequence[str], gone: dict[str, int]
) -> list[tuple[CueTrack, Labelled]]:
    """By the review beside the timeline; what of it is of no cue there is added to ``gone``."""
    file = review_path(path)
    found = review.of(file, timeline.video)
    if found is None:
        return []
    if count := sum(map(len, found.aside(timeline).values())):
        gone[file.name] = count
    verdicts = verdicts_of(timeline, found)
    return [pair for each in kinds for pair in by_review(timeline, each, verdicts)]


def _fit(source: Source, labelled: list[Labelled], method: str | None, videos: int) -> Fitted:

    if method is None:
        method = "temperature" if any(each.others for each in labelled) else "isotonic"
    truth = [each.is_right for each in labelled]
    held_out = cross_validated(method, labelled)
    return Fitted(
        recognizer=source.name,
        checkpoint_sha256=pinned(source),
        calibration=fit(method, labelled),
        measured_on=f"{len(labelled)} labelled cues of {videos} video{'s' if videos > 1 else ''}, "
        "each by a map fitted without its fifth",
        n=len(labelled),
        ece_before=expected_calibration_error([each.score for each in labelled], truth),
        ece=expected_calibration_error(held_out, truth),
        reliability=reliability(held_out, truth),
    )
