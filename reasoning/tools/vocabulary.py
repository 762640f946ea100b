"""Every label that a recognizer can give, in words, for the control that draws labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from perception.cue import CueTimeline
from perception.skeleton import posec3d

__all__ = ["vocabulary"]


def vocabulary(timeline: CueTimeline) -> Mapping[str, Sequence[str]]:
    """Kind -> labels, of the recognizers whose list is known here: the embedded action network.
    A track of another network is left to the labels that stand in it."""
    labels = posec3d.embedded().labels
    known = [phrase for at, phrase in enumerate(labels.phrases) if at != labels.none]
    named = [
        cue.attributes.get("label") for track, cue in timeline.cues() if track.kind == "action"
    ]
    return {"action": known} if all(label in labels.names for label in named) else {}
