"""What a study's conditions let the model know of each video; every video is perceived once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fusion.controls import Control, corrupted, fuse_control
from fusion.fuse import fuse
from fusion.selection import CuePrompt
from perception import video
from perception.cue import CueTimeline, VideoInfo
from perception.errors import BadInput
from perception.perceive import build_recognizers
from reasoning.benchmark import Item
from reasoning.config import Config
from reasoning.plain import plain
from reasoning.records import digest
from reasoning.studies.conditions import Condition
from reasoning.studies.gold import gold_file, with_gold
from reasoning.studies.oracle import with_oracle
from reasoning.study import Arm, Study
from reasoning.tools.vocabulary import vocabulary

__all__ = ["Perceive", "Timelines", "fuser", "no_video"]

Perceive = Callable[[Path, Config, Sequence[str]], CueTimeline]
"""A video's timeline of these kinds, by the settings' recognizers."""

_KEPT_VIDEOS = 2
"""In memory: the one that is asked about, and the one that ``foreign`` takes its cues from."""

_OF_TIMELINES = ("shuffled", "shifted", "foreign", "drawn")

_WITHOUT_REJECTED = 4
"""Arguments of ``fuse`` that a control of a block takes: all cues are left out anyway."""


class Timelines:
    """The timelines of a study's videos.

    Args:
        study: whose conditions say which cues are needed.
        perceive: called once for a video and settings of the recognizers.
    """

    def __init__(self, study: Study, perceive: Perceive) -> None:
        self._study, self._perceive = study, perceive
        self._known: dict[tuple[str, str], CueTimeline] = {}
        self._sources: dict[str, Any] = {}

    def sources(self, arm: Arm) -> Any:
        """What makes the condition's cues, as JSON: recognizers, versions, checkpoints."""
        key = digest(plain(arm.settings.recognizers), arm.kinds)
        if key not in self._sources:
            options = {kind: arm.settings.recognizers[kind] for kind in arm.kinds}
            self._sources[key] = [plain(each.source) for each in build_recognizers(options)]
        return self._sources[key]

    def stamps(self, arm: Arm, item: Item) -> list[Any]:
        """What changes with the content of the files that the item's cues come from."""
        names = (
            [item.video] if arm.condition.control != "foreign" else [item.video, self._next(item)]
        )
        paths = [arm.benchmark.video(replace(item, video=name)) for name in names if name]
        if arm.gold is not None:
            paths += [gold_file(arm.gold, name) for name in names if name]
        return [_stamp(path) for path in paths if path is not None]

    def oracle(self, arm: Arm, item: Item) -> tuple[Item, ...]:
        """The questions whose answers the condition gives away for ``item``."""
        if not arm.condition.oracle:
            return ()
        grounding = self._study.grounding(item.video)
        own = any(each.question.id == item.question.id for each in grounding)
        return () if own else grounding

    def timeline(self, arm: Arm, item: Item) -> CueTimeline:
        """What the condition lets the model know of the item's video."""
        timeline = self._of_kinds(arm, item)
        if given := self.oracle(arm, item):
            timeline = with_oracle(timeline, given)
        name = arm.condition.control
        if name not in _OF_TIMELINES:
            return timeline
        other = replace(item, video=self._next(item)) if name == "foreign" else None
        return corrupted(
            Control(str(name), arm.condition.seed),
            timeline,
            other=None if other is None else self._of_kinds(arm, other),
            vocabulary=vocabulary(timeline) if name == "drawn" else None,
        )

    def _of_kinds(self, arm: Arm, item: Item) -> CueTimeline:
        path = arm.benchmark.video(item)
        if path is None:
            return CueTimeline(no_video(item))
        kinds = self._kinds_like(arm)
        key = (str(path), digest(plain(arm.settings.recognizers)) if kinds else "")
        if key not in self._known:
            self._make_room(str(path))
            timeline = self._perceive(path, arm.settings, kinds) if kinds else None
            self._known[key] = timeline or CueTimeline(video.probe(path))
        whole = self._known[key]
        told = replace(whole, tracks=tuple(t for t in whole.tracks if t.kind in arm.kinds))
        if arm.gold is None:
            return told
        return with_gold(told, gold_file(arm.gold, item.video), arm.tells)

    def _make_room(self, path: str) -> None:
        names = list(dict.fromkeys([name for name, _ in self._known if name != path] + [path]))
        for gone in names[:-_KEPT_VIDEOS]:
            self._known = {key: each for key, each in self._known.items() if key[0] != gone}

    def _kinds_like(self, arm: Arm) -> tuple[str, ...]:
        """All kinds that conditions with the same recognizers give, if this one gives any."""
        if not arm.kinds:
            return ()
        recognizers = arm.settings.recognizers
        alike = [each for each in self._study.arms if each.settings.recognizers == recognizers]
        wanted = {kind for each in alike for kind in each.kinds}
        return tuple(kind for kind in recognizers if kind in wanted)

    def _next(self, item: Item) -> str:
        """The video after the item's in the benchmark; after the last comes the first."""
        names = list(dict.fromkeys(each.video for each in self._study.benchmark.items()))
        if len(names) == 1:
            raise BadInput("The control 'foreign' needs a benchmark of two videos or more.")
        return names[(names.index(item.video) + 1) % len(names)]


def fuser(condition: Condition) -> Callable[..., CuePrompt]:
    """``fuse``, or what a control puts in the place of its block; ``Timelines`` has put the other
    controls into the timeline."""
    if condition.control is None:
        return fuse
    control = Control(condition.control, condition.seed)
    if condition.control in _OF_TIMELINES:
        return lambda *args: replace(fuse(*args), control=control)
    return lambda *args: fuse_control(control, *args[:_WITHOUT_REJECTED])


def no_video(item: Item) -> VideoInfo:
    """Stands for a video that is missing or cannot be read."""
    return VideoInfo(item.video, "", 0.0, 0.0, 0, 0, 0.0, has_video=False, has_audio=False)


def _stamp(path: Path) -> list[Any]:
    status = path.stat()
    return [path.name, status.st_size, status.st_mtime_ns]
