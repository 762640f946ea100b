"""The settings of fusion, plain enough to be written in a YAML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fusion.render import RenderOptions
from perception.errors import BadInput
from perception.plugins import options_of

__all__ = ["ACTION_THRESHOLD", "POLICIES", "THRESHOLDS", "FusionOptions"]

POLICIES = "fusion.policies"
"""The folder whose files are the policies."""

ACTION_THRESHOLD = 0.6
"""MimeQA keeps "only action predictions with confidence scores above 60%" (section 4.2.1)."""

SCREEN_TEXT_THRESHOLD = 0.6
"""Just above the noise: PP-OCR's false readings are mostly pictograms taken for a single glyph,
at 0.53 and more; words that are read right mostly score above 0.9."""

SPEECH_THRESHOLD = 0.4
"""Lower than the others: the recognizer itself keeps out what is no speech, so that the score
tells how many words are right, and a sentence heard half right still says what is talked about."""

DEFAULT_THRESHOLD = 0.5
"""For kinds that are not named: more likely right than wrong."""


THRESHOLDS = {
    "action": ACTION_THRESHOLD,
    "screen_text": SCREEN_TEXT_THRESHOLD,
    "speech": SPEECH_THRESHOLD,
}


@dataclass(frozen=True, slots=True)
class FusionOptions:
    """How cues become a block of the prompt.

    Args:
        policies: names of files in ``fusion/policies``, applied in this order.
        policy_options: by policy, its ``Options``; those that are not named have their defaults.
        thresholds: by cue kind; a cue whose probability is lower is dropped. What is given is laid
            over ``THRESHOLDS``.
        default_threshold: for kinds that are named in neither.
        margin_s: cues up to so far outside the part that is asked about are let in too.
        budget_tokens: the block never takes more tokens of the model than this.
        one_per_kind: the worthiest cue of each kind is put in first, where it fits.
        render: how the block is worded.

    Raises:
        BadInput: a number lies outside its limits.
    """

    policies: tuple[str, ...] = ("every_cue",)
    policy_options: Mapping[str, Any] = options_of(POLICIES)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    default_threshold: float = DEFAULT_THRESHOLD
    margin_s: float = 0.0
    budget_tokens: int = 1000
    one_per_kind: bool = False
    render: RenderOptions = field(default_factory=RenderOptions)

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", {**THRESHOLDS, **self.thresholds})
        limits = {**self.thresholds, "every other kind": self.default_threshold}
        for kind, threshold in limits.items():
            if not 0 <= threshold <= 1:
                raise BadInput(
                    f"The threshold for {kind} is {threshold}; give a probability from 0 to 1, "
                    f"e.g. {ACTION_THRESHOLD}."
                )
        if self.budget_tokens < 0:
            raise BadInput(
                f"The budget is {self.budget_tokens} tokens; give 0 (no cues) or more, e.g. 1000."
            )
        if not self.margin_s >= 0:
            raise BadInput(f"margin_s is {self.margin_s}; give 0 or more seconds, e.g. 10.")

    def threshold(self, kind: str) -> float:
        """The least probability with which a cue of ``kind`` is kept."""
        return self.thresholds.get(kind, self.default_threshold)
