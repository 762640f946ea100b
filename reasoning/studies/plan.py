"""What a run would do, before it does it: calls, tokens, cost, what is on record already."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from perception import video
from perception.cue import Span, VideoInfo
from perception.errors import UnreadableVideo
from perception.recognizer import Frame
from reasoning.ask import request_for
from reasoning.benchmark import Shown
from reasoning.egress import Egress, total_of
from reasoning.sampling import frame_times_s
from reasoning.studies.asking import Todo
from reasoning.videollm import FrameSampling, VideoFile, VideoLLM

__all__ = ["ConditionPlan", "Plan", "plan_of"]

_LOOKED_AT = 6
"""Prompts of a condition that are counted: the longest of as many groups of like length."""

_SIDE_PX = (640, 360)
"""Of the pictures of a video that is missing."""


@dataclass(frozen=True, slots=True)
class ConditionPlan:
    """One condition's share.

    Args:
        questions: with their repeats, on record or not.
        done: have an answer on record.
        prompt_tokens: of all calls to come: counted without cues, and as many more as the cues may
            take (``fusion.budget_tokens``).
        reply_tokens: at most.
    """

    name: str
    questions: int
    done: int
    prompt_tokens: int
    reply_tokens: int

    @property
    def calls(self) -> int:
        """To come, one for each answer; strategies of several calls make more."""
        return self.questions - self.done


@dataclass(frozen=True, slots=True)
class Plan:
    """All conditions, and what would leave this machine; None when nothing does."""

    videos: int
    conditions: tuple[ConditionPlan, ...]
    egress: Egress | None

    @property
    def calls(self) -> int:
        """Of all conditions."""
        return sum(each.calls for each in self.conditions)


def plan_of(cells: Sequence[Todo], llm: VideoLLM) -> Plan:
    """The plan of a run over ``cells``; nothing is perceived and nobody is asked. Loads what the
    model needs for counting.

    Raises:
        WeightsError: the model cannot be loaded to count.
    """
    by_condition: dict[str, list[Todo]] = {}
    for cell in cells:
        by_condition.setdefault(cell.arm.name, []).append(cell)
    plans, sent = [], []
    for name, own in by_condition.items():
        plan, leaving = _condition(name, own, llm)
        plans.append(plan)
        sent += leaving
    videos = len({cell.item.video for cell in cells if not cell.key and cell.item.video})
    return Plan(videos, tuple(plans), total_of(sent) if sent else None)


def _condition(
    name: str, cells: Sequence[Todo], llm: VideoLLM
) -> tuple[ConditionPlan, list[Egress]]:
    waiting = sorted((cell for cell in cells if not cell.key), key=lambda cell: _length(cell, llm))
    prompt, leaving = 0, []
    for group in _groups(waiting):
        tokens, sent = _counted(group[-1], llm)
        prompt += tokens * len(group)
        if sent is not None:
            leaving.append(_times(sent, len(group)))
    reply = sum(cell.arm.settings.answer.max_new_tokens for cell in waiting)
    done = len(cells) - len(waiting)
    return ConditionPlan(name, len(cells), done, prompt, reply), leaving


def _groups(waiting: Sequence[Todo]) -> list[Sequence[Todo]]:
    """At most ``_LOOKED_AT`` of about one size, in the given order."""
    ends = np.linspace(0, len(waiting), min(_LOOKED_AT, len(waiting)) + 1).round().astype(int)
    return [waiting[start:end] for start, end in itertools.pairwise(ends)]


def _length(cell: Todo, llm: VideoLLM) -> tuple[int, int]:
    """By which prompts are as long as one another: pictures, and letters of the question."""
    item = cell.own_item
    sampling = llm.sampling if cell.arm.condition.video else None
    info = _info(cell) if sampling is not None else None
    frames = _times_s(info, sampling, item.question.span)
    return len(frames), len(item.question.text) + sum(map(len, item.question.options))


def _info(cell: Todo) -> VideoInfo | None:
    """None where the video is missing, or cannot be read."""
    path = cell.arm.benchmark.video(cell.own_item)
    return None if path is None else _probed(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=1024)
def _probed(path: Path, modified_ns: int) -> VideoInfo | None:
    del modified_ns
    try:
        return video.probe(path)
    except UnreadableVideo:
        return None


def _counted(cell: Todo, llm: VideoLLM) -> tuple[int, Egress | None]:
    """Tokens of the cell's prompt with cues as long as they may be, and what would be sent."""
    arm = cell.arm
    item = cell.own_item
    path, info = arm.benchmark.video(item), _info(cell)
    sampling = llm.sampling if arm.condition.video else None
    frames = _blank_frames(info, sampling, item.question.span)
    duration_s = info.duration_s if info is not None else 0.0
    times_s = [frame.time_s for frame in frames]
    shown = Shown(times_s, duration_s, llm.native_video, arm.with_cues)
    request = request_for(
        item.question,
        None,
        llm,
        frames,
        duration_s,
        arm.settings.answer,
        video=None if path is None else VideoFile(path, item.question.span),
        wording=arm.benchmark.words(item, shown),
    )
    cues = arm.settings.fusion.budget_tokens if arm.with_cues else 0
    leaving = llm.egress(request)
    if leaving is not None:
        leaving = replace(leaving, tokens=leaving.tokens + cues)
    return llm.count(request).tokens + cues, leaving


def _blank_frames(
    info: VideoInfo | None, sampling: FrameSampling | None, span: Span | None
) -> tuple[Frame, ...]:
    """As many pictures as the model would see, of their size, all the same one."""
    times_s = _times_s(info, sampling, span)
    if info is None or sampling is None or not times_s:
        return ()
    width, height = (info.width, info.height) if info.width else _SIDE_PX
    most = max(width, height)
    scale = min(1.0, sampling.max_side_px / most) if sampling.max_side_px else 1.0
    size = (max(1, round(height * scale)), max(1, round(width * scale)), 3)
    picture = np.zeros(size, np.uint8)
    return tuple(Frame(time_s, picture, 1 / scale) for time_s in times_s)


def _times_s(
    info: VideoInfo | None, sampling: FrameSampling | None, span: Span | None
) -> Sequence[float]:
    """Of the pictures that the model would see."""
    if info is None or sampling is None or not info.has_video:
        return ()
    whole = Span(0.0, info.duration_s)
    return frame_times_s(whole if span is None else span.clamped(whole), sampling)


def _times(sent: Egress, count: int) -> Egress:
    return replace(
        sent,
        frames=sent.frames * count,
        tokens=sent.tokens * count,
        cost_usd=None if sent.cost_usd is None else sent.cost_usd * count,
    )
