"""The upper bound of what perception could give to reasoning (MimeQA's Figure 8 as an experiment):
the reference answers of a video's *Grounding* questions, as cues for its other questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from perception.cue import Cue, CueTimeline, CueTrack, Origin, Source, Span
from reasoning.benchmark import Item

__all__ = ["KIND", "with_oracle"]

KIND = "grounding"
"""Of the track, and in the lines of the prompt."""


def with_oracle(timeline: CueTimeline, grounding: Sequence[Item]) -> CueTimeline:
    """The timeline with a track of origin *human*: a cue for each of the questions, its words and
    the reference answer, at the time that it asks about (all of the video where it names none)."""
    whole = Span(0.0, timeline.video.duration_s)
    cues = tuple(
        Cue(
            f"{KIND}-{number}",
            item.question.span or whole,
            f"{item.question.text} {item.reference}",
            1.0,
            {"question": item.question.id},
        )
        for number, item in enumerate(grounding, start=1)
    )
    track = CueTrack(KIND, KIND, Source("reference answers"), cues, Origin.HUMAN)
    return replace(timeline, tracks=(*timeline.tracks, track))
