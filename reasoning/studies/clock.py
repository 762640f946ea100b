"""How far a run of a study is, and how long it will still take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Clock", "Progress"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Args:
        what: is done now.
        done, total: cells with an answer, and all.
        asked, failed: calls to a model in this run, and cells that got no answer in it.
        remaining_s: estimated from the videos and the calls so far; None before the first.
    """

    what: str
    done: int
    total: int
    asked: int = 0
    failed: int = 0
    remaining_s: float | None = None


class Clock:
    """Times videos and answers of a run.

    Args:
        total: cells of the study.
        waiting: the video of each cell that is still to be asked.
    """

    def __init__(self, total: int, waiting: Iterable[str]) -> None:
        videos = list(waiting)
        self._total, self._waiting = total, len(videos)
        self._videos = dict.fromkeys(videos, 0.0)
        self._seen: set[str] = set()
        self._asking_s = 0.0
        self._tried = self._failed = self._asked = 0

    def perceived(self, video: str, seconds: float) -> None:
        """Time that went into a video's cues."""
        self._seen.add(video)
        self._videos[video] = self._videos.get(video, 0.0) + seconds

    def answered(self, seconds: float, asked: int, failed: bool) -> None:
        """A cell was tried, with so many calls to the model."""
        self._asking_s += seconds
        self._tried += 1
        self._asked += asked
        self._failed += failed

    def progress(self, what: str) -> Progress:
        """Now; the rest is taken to go as what was done in this run."""
        remaining_s = None
        if self._tried:
            each_s = self._asking_s / self._tried
            video_s = sum(self._videos.values()) / len(self._seen)
            unseen = len(self._videos) - len(self._seen)
            remaining_s = each_s * (self._waiting - self._tried) + video_s * unseen
        done = self._total - self._waiting + self._tried - self._failed
        return Progress(what, done, self._total, self._asked, self._failed, remaining_s)
