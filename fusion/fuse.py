"""Gate, policies, budget, render: a ``CueTimeline`` and a ``Question`` become a ``CuePrompt``.

Pure: the same timeline, question, options and tools give the same text, to the byte.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from fusion.budget import fit
from fusion.gate import gate
from fusion.options import POLICIES, FusionOptions
from fusion.policy import Policy, Tools
from fusion.question import Question
from fusion.selection import CuePrompt, Selection
from perception.cue import CueTimeline
from perception.errors import CuelightError
from perception.plugins import build

__all__ = ["POLICIES", "FusionOptions", "Tools", "fuse", "select"]


def fuse(
    timeline: CueTimeline,
    question: Question,
    options: FusionOptions | None = None,
    tools: Tools | None = None,
    rejected: Mapping[str, str] | None = None,
) -> CuePrompt:
    """The block of cues for a model's prompt.

    Every cue of the timeline is in exactly one of ``selection.kept``, the ``merged_ids`` of a
    kept cue, and ``selection.dropped``, where it has a reason. ``tools.count_tokens`` of the text
    is at most ``options.budget_tokens``.

    Args:
        timeline: the order of its tracks does not matter.
        question: its ``span`` limits the cues to those that touch it.
        options: None = the defaults, the paper's policy.
        tools: None = tokens are estimated, nothing is calibrated.
        rejected: cue id -> reason, of cues that were checked and found wanting; they are dropped.

    Raises:
        UnknownName: ``options.policies`` names one that does not exist.
        BadInput: a policy needs a tool that ``tools`` lacks.
        CuelightError: a policy lost, doubled or made a cue.
    """
    options, tools = options or FusionOptions(), tools or Tools()
    gated, selection = _selected(timeline, question, options, tools, rejected)
    return fit(
        selection,
        gated,
        options.budget_tokens,
        options.render,
        tools.count_tokens,
        options.one_per_kind,
    )


def select(
    timeline: CueTimeline,
    question: Question,
    options: FusionOptions | None = None,
    tools: Tools | None = None,
) -> Selection:
    """What gate and policies make of a timeline, before the budget; raises as ``fuse``."""
    return _selected(timeline, question, options or FusionOptions(), tools or Tools(), None)[1]


def _selected(
    timeline: CueTimeline,
    question: Question,
    options: FusionOptions,
    tools: Tools,
    rejected: Mapping[str, str] | None,
) -> tuple[Selection, Selection]:
    """After the gate, and after the policies."""
    policies: dict[str, Policy] = {
        name: build(POLICIES, name, options.policy_options) for name in options.policies
    }
    gated = selection = gate(timeline, question, options, tools.calibration, rejected)
    for name in options.policies:
        after = policies[name](selection, question, tools)
        selection = after.with_parts(selection, gated)
        _account(selection, gated, name)
    return gated, selection


def _account(selection: Selection, gated: Selection, policy: str) -> None:
    """See that a policy neither lost, doubled nor made a cue."""
    after = Counter(
        [id for item in selection.kept for id in item.ids]
        + [item.cue.id for item in selection.dropped]
    )
    before = Counter([item.cue.id for item in gated.kept] + [item.cue.id for item in gated.dropped])
    if after != before:
        wrong = sorted((after - before) + (before - after))
        raise CuelightError(
            f"The policy {policy!r} must return each cue once, kept, merged or dropped; "
            f"it did not for {', '.join(wrong)}."
        )
