"""Which cues go into the prompt, which do not, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from perception.cue import Cue, Origin, Span, id_order

__all__ = ["Control", "CuePrompt", "DroppedCue", "KeptCue", "Selection"]


@dataclass(frozen=True, slots=True)
class KeptCue:
    """A cue that is still in.

    Args:
        kind: of its track, e.g. ``"action"``.
        cue: as perceived.
        probability: that the cue is right: calibrated where a calibration exists, else the raw
            confidence.
        calibrated: whether ``probability`` went through a calibration, or is a person's certainty.
        value: what it is worth, used by the budget: probability × relevance × novelty; in [0, 1].
        relevance: to the question, in [0, 1]; 1 until a policy knows better.
        novelty: how much of it no worthier cue says already, in [0, 1]; 1 until a policy knows.
        top: all labels that its recognizer named with their probabilities, calibrated alike, best
            first; empty where it named none.
        phrasing: the words that ``render`` prints for it; None = the cue's own text.
        qualifier: a word of ours before the text and outside its quotes, e.g. ``"perhaps"``.
        note: words of ours after the text and outside its quotes, e.g. ``"on and off"``.
        alternatives: (label, probability) of what it may be instead, as ``render`` prints them.
        span: of all that was folded into it; None = the cue's own.
        merged_ids: ids of the cues folded into this one (not its own).
        origin: who made its track; a control's is that of the track which it stands in for.
    """

    kind: str
    cue: Cue
    probability: float
    calibrated: bool = False
    value: float = 1.0
    relevance: float = 1.0
    novelty: float = 1.0
    top: tuple[tuple[str, float], ...] = ()
    phrasing: str | None = None
    qualifier: str = ""
    note: str = ""
    alternatives: tuple[tuple[str, float], ...] = ()
    span: Span | None = None
    merged_ids: tuple[str, ...] = ()
    origin: Origin = Origin.RECOGNIZER

    @property
    def when(self) -> Span:
        """The time that its line speaks of."""
        return self.cue.span if self.span is None else self.span

    @property
    def is_certain(self) -> bool:
        """Whether a person made it and told no doubt."""
        return self.origin is Origin.HUMAN and self.probability == 1

    @property
    def ids(self) -> tuple[str, ...]:
        """Its own id and those of the cues folded into it."""
        return (self.cue.id, *self.merged_ids)

    @property
    def words(self) -> str:
        """What its line says, before it is made harmless."""
        return self.cue.text if self.phrasing is None else self.phrasing

    def valued(
        self,
        *,
        probability: float | None = None,
        relevance: float | None = None,
        novelty: float | None = None,
    ) -> KeptCue:
        """The same cue with these factors, and ``value`` as their product."""
        probability = self.probability if probability is None else probability
        relevance = self.relevance if relevance is None else relevance
        novelty = self.novelty if novelty is None else novelty
        return replace(
            self,
            probability=probability,
            relevance=relevance,
            novelty=novelty,
            value=probability * relevance * novelty,
        )


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

    def without(self, reasons: Mapping[str, str]) -> Selection:
        """Drop the kept cues whose id is in ``reasons``, each for its reason."""
        stay = tuple(item for item in self.kept if item.cue.id not in reasons)
        gone = (
            DroppedCue(item.kind, item.cue, reasons[item.cue.id])
            for item in self.kept
            if item.cue.id in reasons
        )
        return Selection(stay, _by_time([*self.dropped, *gone]))

    def with_parts(self, before: Selection, gated: Selection) -> Selection:
        """What was merged into a cue of ``before`` that is dropped here is dropped too, each with
        its own reason; ``gated`` still has the cues themselves."""
        folded = {item.cue.id: item.merged_ids for item in before.kept if item.merged_ids}
        gone = [item for item in self.dropped if item.cue.id in folded]
        if not gone:
            return self
        known = {item.cue.id: item for item in gated.kept}
        parts = [
            DroppedCue(known[id].kind, known[id].cue, f"merged into {item.cue.id}: {item.reason}")
            for item in gone
            for id in folded[item.cue.id]
        ]
        return Selection(self.kept, _by_time([*self.dropped, *parts]))


def _by_time(dropped: Iterable[DroppedCue]) -> tuple[DroppedCue, ...]:
    return tuple(
        sorted(dropped, key=lambda item: (item.cue.span, item.kind, id_order(item.cue.id)))
    )


@dataclass(frozen=True, slots=True)
class Control:
    """What was put in the place of the truth: see ``fusion.controls``.

    Args:
        name: a name in ``fusion.controls.CONTROLS``.
        seed: the same seed gives the same corruption.
    """

    name: str
    seed: int = 0


@dataclass(frozen=True, slots=True)
class CuePrompt:
    """The block of text for the model's prompt, and the selection behind it.

    Args:
        text: empty when there is nothing to say.
        selection: kept in the order in which they stand in ``text``.
        lines: (line number in ``text`` from 0, cue id) for every kept cue, so that a page can link.
        control: None = the cues are those of the video.
    """

    text: str
    selection: Selection
    lines: tuple[tuple[int, str], ...] = ()
    control: Control | None = None
