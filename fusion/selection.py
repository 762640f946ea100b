"""Which cues go into the prompt, which do not, and why."""

from __future__ import annotations

from dataclasses import dataclass

from perception.cue import Cue

__all__ = ["CuePrompt", "DroppedCue", "KeptCue", "Selection"]


@dataclass(frozen=True, slots=True)
class KeptCue:
    """A cue that is still in.

    Args:
        kind: of its track, e.g. ``"action"``.
        cue: as perceived.
        probability: that the cue is right: calibrated where a calibration exists, else the raw
            confidence.
        calibrated: whether ``probability`` went through a calibration.
        value: what it is worth per the policy, used by the budget; in [0, 1].
        phrasing: the words that ``render`` prints for it; None = the cue's own text.
        merged_ids: ids of the cues folded into this one (not its own).
    """

    kind: str
    cue: Cue
    probability: float
    calibrated: bool = False
    value: float = 1.0
    phrasing: str | None = None
    merged_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DroppedCue:
    """A cue that was left out.

    Args:
        reason: one clause for a person, e.g. ``"confidence 0.41 is under 0.60"``.
    """

    kind: str
    cue: Cue
    reason: str


@dataclass(frozen=True, slots=True)
class Selection:
    """The state that every policy takes and returns. No cue is ever in neither list."""

    kept: tuple[KeptCue, ...] = ()
    dropped: tuple[DroppedCue, ...] = ()


@dataclass(frozen=True, slots=True)
class CuePrompt:
    """The block of text for the model's prompt, and the selection behind it.

    Args:
        text: empty when there is nothing to say.
        selection: kept in the order in which they stand in ``text``.
        lines: (line number in ``text`` from 0, cue id) for every kept cue, so that a page can link.
    """

    text: str
    selection: Selection
    lines: tuple[tuple[int, str], ...] = ()
