"""What ``inspect`` puts on the page beside the cues: traces, prompts, a study, a review, a copy of
the video that browsers play."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fusion.question import Question
from perception.cue import CueTimeline
from perception.errors import BadInput, UnreadableVideo
from perception.recognizer import Traces
from reasoning.cli import _output as output
from reasoning.cli._perceiving import drawn_beside
from reasoning.viewer.drawn import frame_times_s
from reasoning.viewer.extras import Extras
from reasoning.viewer.given import Block
from reasoning.viewer.playable import (
    KINDS,
    PROXY_SUFFIX,
    is_proxy_of,
    plays_in_browsers,
    write_proxy,
)

if TYPE_CHECKING:
    from reasoning.cli._seeing import Seen
    from reasoning.config import Config

__all__ = [
    "Shown",
    "ShownPage",
    "blocks",
    "calibrated",
    "embedded",
    "extras",
    "shown_page",
    "shown_video",
]

MAX_EMBEDDED_BYTES = 256 << 20
"""Browsers take longer to open a page than people wait from about here on."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The file that the page plays, and where its clock starts; None = the video's own."""

    path: Path
    start_s: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ShownPage:
    """All that the page is made of beside the timeline; ``video`` is None where there is none."""

    extras: Extras
    video: Shown | None

    @property
    def path(self) -> Path | None:
        """The file that the page plays."""
        return None if self.video is None else self.video.path


def shown_page(
    seen: Seen,
    settings: Config,
    questions: Sequence[str],
    policies: Sequence[str],
    study: Path | None,
    proxy: bool | None,
    quiet: bool,
) -> ShownPage:
    """What the page shows of ``seen``; arguments and errors as of the functions below."""
    from reasoning.cli._studied import study_of
    from reasoning.tools import review

    shown = None
    if seen.video is not None:
        shown = shown_video(seen.video, seen.timeline, seen.stem, proxy, quiet)
    made = replace(
        extras(seen.timeline, seen.video, seen.traces, shown),
        blocks=blocks(seen.timeline, questions, policies, settings),
        calibrated=calibrated(seen.timeline, settings),
        study=None if study is None else study_of(study, seen.timeline),
        review=review.of(seen.review, seen.timeline.video),
        review_name=seen.review.name,
    )
    return ShownPage(made, shown)


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
    target = stem.with_name(f"{stem.name}{PROXY_SUFFIX}")
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
        drawn: the traces, or the file that holds them if it is there; one that was written with
            other cues is not drawn, which is told on stderr.

    Raises:
        BadInput: the traces file is damaged.
    """
    if isinstance(drawn, Path):
        drawn = drawn_beside(drawn, timeline)
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
