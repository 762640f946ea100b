"""What a run would do, before it does it: calls, tokens, cost, what is on record already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from perception import video
from perception.cue import Span, VideoInfo
from perception.recognizer import Frame
from reasoning.ask import request_for
from reasoning.benchmark import Shown
from reasoning.egress import Egress, total_of
from reasoning.sampling import frame_times_s
from reasoning.studies.asking import Todo
from reasoning.videollm import FrameSampling, VideoFile, VideoLLM

__all__ = ["ConditionPlan", "Plan", "plan_of"]

_LOOKED_AT = 6
"""Cells of a condition whose prompts are counted; the rest is taken to be like them."""

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
    waiting = [cell for cell in cells if not cell.key]
    chosen = waiting[:: max(1, len(waiting) // _LOOKED_AT)][:_LOOKED_AT]
    counted = [_counted(cell, llm) for cell in chosen]
    share = len(waiting) / len(chosen) if chosen else 0.0
    prompt = sum(tokens for tokens, _ in counted)
    reply = sum(cell.arm.settings.answer.max_new_tokens for cell in waiting)
    leaving = [_times(each, share) for _, each in counted if each is not None]
    done = len(cells) - len(waiting)
    return ConditionPlan(name, len(cells), done, round(prompt * share), reply), leaving


def _counted(cell: Todo, llm: VideoLLM) -> tuple[int, Egress | None]:
    """Tokens of the cell's prompt with cues as long as they may be, and what would be sent."""
    arm = cell.arm
    item = arm.items[cell.item.question.id]
    path = arm.benchmark.video(item)
    info = video.probe(path) if path is not None else None
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
    if info is None or sampling is None or not info.has_video:
        return ()
    whole = Span(0.0, info.duration_s)
    part = whole if span is None else span.clamped(whole)
    width, height = (info.width, info.height) if info.width else _SIDE_PX
    most = max(width, height)
    scale = min(1.0, sampling.max_side_px / most) if sampling.max_side_px else 1.0
    size = (max(1, round(height * scale)), max(1, round(width * scale)), 3)
    picture = np.zeros(size, np.uint8)
    return tuple(Frame(time_s, picture, 1 / scale) for time_s in frame_times_s(part, sampling))


def _times(sent: Egress, share: float) -> Egress:
    return replace(
        sent,
        frames=round(sent.frames * share),
        tokens=round(sent.tokens * share),
        cost_usd=None if sent.cost_usd is None else sent.cost_usd * share,
    )
