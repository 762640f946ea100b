"""A study's records as ``inspect`` needs them: where its videos are, and what was answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fusion.question import Question
from perception.cue import CueTimeline
from perception.errors import BadInput, UnknownName
from reasoning.viewer.studied import Studied

if TYPE_CHECKING:
    from reasoning.results.outcomes import Outcome

__all__ = ["study_of", "video_of"]


def study_of(records: Path, timeline: CueTimeline) -> Studied:
    """What a study's records tell of the timeline's video.

    Raises:
        BadInput: there is no such file, or it holds no study.
        UnknownName: the study has no question about the video.
    """
    from reasoning.records import Records
    from reasoning.results.from_records import outcomes
    from reasoning.results.outcomes import Outcomes

    if not records.is_file():
        raise BadInput(f"There is no file {str(records)!r}; give the records of cuelight ablate.")
    store = Records(records)
    try:
        rows = outcomes(store).rows
        words = {id: facts.get("question", id) for _, id, _, _, facts in store.cells()}
    finally:
        store.close()
    mine = _about(timeline.video.name)
    found = tuple(row for row in rows if mine(row))
    if not found:
        raise UnknownName(
            "video of the study", timeline.video.name, list({row.video: None for row in rows})
        )
    questions = {row.question: _question(str(words[row.question])) for row in found}
    return Studied(Outcomes(found), questions)


def _about(name: str) -> Callable[[Outcome], bool]:
    """Whether an outcome is about the video of that name; studies may leave out the suffix."""
    return lambda row: Path(row.video).name in {name, Path(name).stem}


def _question(words: str) -> Question:
    question = Question(words)
    return replace(question, span=question.mentioned)


def video_of(records: Path, name: str | None) -> str:
    """Path of a video that a study asks about.

    Args:
        name: as the study calls it, or a path; None where there is only one.

    Raises:
        BadInput: there are several, it is not in the study, or its file is not there.
    """
    from reasoning.records import Records

    if name is not None and Path(name).is_file():
        return name
    if not records.is_file():
        raise BadInput(f"There is no file {str(records)!r}; give the records of cuelight ablate.")
    store = Records(records)
    try:
        cells = store.cells()
        names = list(dict.fromkeys(str(facts.get("video", "")) for *_, facts in cells))
        stamps = store.stamps()
    finally:
        store.close()
    known = [each for each in names if each]
    if name is None and len(known) != 1:
        raise BadInput(
            f"{str(records)!r} asks about {len(known)} videos; say which by --video"
            + (f", e.g. --video {known[0]!r}." if known else ".")
        )
    wanted = known[0] if name is None else name
    if wanted not in known:
        raise UnknownName("video of the study", wanted, known)
    found = _file_of(stamps, wanted)
    if found is None:
        raise BadInput(
            f"The file of the study's video {wanted!r} is not where the study had it; give its "
            f"path: cuelight inspect VIDEO --study {str(records)!r}."
        )
    return str(found)


def _file_of(stamps: Sequence[Mapping[str, object]], name: str) -> Path | None:
    """Where the latest run that had the video found it."""
    for stamp in reversed(stamps):
        videos = stamp.get("videos")
        path = videos.get(name) if isinstance(videos, Mapping) else None
        if isinstance(path, str) and Path(path).is_file():
            return Path(path)
    return None
