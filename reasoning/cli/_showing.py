"""What ``inspect`` puts on the page beside the cues: traces, prompts, a study, a review, a copy of
the video that browsers play."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fusion.question import Question
from perception import traces
from perception.cue import CueTimeline
from perception.errors import BadInput, UnknownName, UnreadableVideo
from perception.recognizer import Traces
from reasoning.cli import _output as output
from reasoning.viewer.drawn import frame_times_s
from reasoning.viewer.given import Block
from reasoning.viewer.page import Extras
from reasoning.viewer.playable import KINDS, is_proxy_of, plays_in_browsers, write_proxy
from reasoning.viewer.studied import Studied

if TYPE_CHECKING:
    from reasoning.config import Config
    from reasoning.outcomes import Outcome

__all__ = [
    "Shown",
    "blocks",
    "calibrated",
    "embedded",
    "extras",
    "shown_video",
    "study_of",
    "video_of",
]

_VIDEO_SUFFIXES = frozenset({*KINDS, ".mkv", ".avi", ".mpg", ".mpeg", ".ts", ".flv", ".wmv"})

MAX_EMBEDDED_BYTES = 256 << 20
"""Browsers take longer to open a page than people wait from about here on."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The file that the page plays, and where its clock starts; None = the video's own."""

    path: Path
    start_s: float | None = None


def shown_video(
    video: Path, timeline: CueTimeline, stem: Path, proxy: bool | None, quiet: bool
) -> Shown:
    """The video itself, or ``STEM.proxy.mp4`` where browsers do not play it.

    Args:
        proxy: None = as needed; a copy of that very video that lies there is used again.

    Raises:
        UnreadableVideo: a copy is asked for, and the file cannot be decoded.
    """
    if proxy is False or (proxy is None and _needs_no_copy(video)):
        return Shown(video)
    target = stem.with_name(f"{stem.name}.proxy.mp4")
    if is_proxy_of(target, timeline.video):
        return Shown(target, 0.0)
    try:
        with output.working("making a copy that browsers play", quiet):
            write_proxy(video, timeline.video, target)
    except UnreadableVideo:
        if proxy:
            raise
        return Shown(video)
    return Shown(target, 0.0)


def _needs_no_copy(video: Path) -> bool:
    """Also where nothing can be copied: the page says that the file does not play."""
    try:
        return plays_in_browsers(video)
    except UnreadableVideo:
        return True


def extras(
    timeline: CueTimeline, video: Path | None, drawn: Traces | Path, shown: Shown | None
) -> Extras:
    """What there is to draw of a video.

    Args:
        drawn: the traces, or the file that holds them if it is there.

    Raises:
        BadInput: the traces file is damaged.
    """
    if isinstance(drawn, Path):
        drawn = traces.load(drawn) if drawn.is_file() else {}
    times_s = None
    if video is not None and timeline.video.has_video:
        with contextlib.suppress(UnreadableVideo):
            times_s = frame_times_s(video)
    return Extras(drawn, times_s, player_start_s=shown.start_s if shown else None)


def embedded(shown: Shown) -> tuple[str, bytes]:
    """Type and bytes of the file for a page that holds it itself.

    Raises:
        BadInput: it is too large for that.
    """
    size = shown.path.stat().st_size
    if size > MAX_EMBEDDED_BYTES:
        raise BadInput(
            f"{str(shown.path)!r} has {size >> 20} MB, and a page holds at most "
            f"{MAX_EMBEDDED_BYTES >> 20} MB; leave out --embed-video, or take a part of the video."
        )
    return KINDS.get(shown.path.suffix.lower(), "video/mp4"), shown.path.read_bytes()


def blocks(
    timeline: CueTimeline,
    questions: Sequence[str],
    policies: Sequence[str],
    settings: Config,
) -> tuple[Block, ...]:
    """The block of every question under every choice of policies.

    Args:
        policies: each one or several joined, ``routed+hedged``; empty = the settings' own.

    Raises:
        UnknownName: there is no such policy.
    """
    from fusion.fuse import fuse
    from reasoning.tools.assemble import assemble

    tools = assemble(settings.tools)
    chosen = [tuple(each.strip() for each in joined.split("+")) for joined in policies]
    found = []
    for words in questions:
        for names in chosen or [settings.fusion.policies]:
            options = replace(settings.fusion, policies=names)
            prompt = fuse(timeline, Question(words), options, tools)
            found.append(Block(prompt, words, "+".join(names)))
    return tuple(found)


def calibrated(timeline: CueTimeline, settings: Config) -> Mapping[str, float]:
    """By cue id, the probability that it is right, where a calibration is known."""
    from fusion.gate import top_labels
    from reasoning.tools.assemble import assemble

    calibration = assemble(settings.tools).calibration
    found = {}
    for track in timeline.tracks:
        scores = calibration(track) if calibration else None
        if scores is not None:
            for cue in track.cues:
                others = [score for _, score in top_labels(cue)[1:]]
                found[cue.id] = scores(cue.confidence, others)
    return found


def study_of(records: Path, timeline: CueTimeline) -> Studied:
    """What a study's records tell of the timeline's video.

    Raises:
        BadInput: there is no such file, or it holds no study.
        UnknownName: the study has no question about the video.
    """
    from reasoning.outcomes import Outcomes
    from reasoning.records import Records
    from reasoning.results import outcomes

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
    """Where the study's benchmark had its videos."""
    file = stamps[-1].get("file") if stamps else None
    benchmarks = file.get("benchmarks") if isinstance(file, Mapping) else None
    options = benchmarks.values() if isinstance(benchmarks, Mapping) else ()
    folders = [
        Path(value)
        for each in options
        if isinstance(each, Mapping)
        for key, value in each.items()
        if key in ("videos", "folder", "data") and isinstance(value, str)
    ]
    for folder in folders:
        for found in (folder / name, *sorted(folder.glob(f"**/{Path(name).stem}.*"))):
            if found.is_file() and found.suffix.lower() in _VIDEO_SUFFIXES:
                return found
    return None
