"""Negative controls: what a model is given in place of the truth, seeded and recorded.

A gain that a control shows too is no grounding: more words in the prompt, or a notice, or a
plausible label at a plausible time, were enough.

============  =====================================================================================
``shuffled``  what the cues of a track say trades places; when anything is said stays
``shifted``   all cues are moved by one offset, around the end of the video to its start
``foreign``   the cues of another video, stretched to this one's length
``drawn``     labels drawn from the recognizer's vocabulary; of other texts, their words drawn anew
``empty``     the notice and no cue
``filler``    the notice and as many tokens of words that say nothing of any video
============  =====================================================================================

The first four corrupt the timeline, whose tracks then have the origin *control* and tell in their
source's settings what was done; the last two replace the block. Confidences stay with what is said
(``shuffled``) or with when (``drawn``), so that as many cues pass the gate as of the truth.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from fusion.fuse import fuse
from fusion.gate import top_labels
from fusion.options import FusionOptions
from fusion.policy import Tools
from fusion.question import Question
from fusion.render import LABEL_KINDS, heading
from fusion.selection import Control, CuePrompt, DroppedCue, KeptCue, Selection
from fusion.words import subject_and_predicate
from perception.cue import Cue, CueTimeline, CueTrack, Origin, Span, id_order
from perception.errors import BadInput, UnknownName

__all__ = ["CONTROLS", "Control", "Vocabulary", "corrupted", "fuse_control"]

_OF_TIMELINES = ("shuffled", "shifted", "foreign", "drawn")
_OF_BLOCKS = ("empty", "filler")
CONTROLS = (*_OF_TIMELINES, *_OF_BLOCKS)
"""Names of all controls."""

Vocabulary = Mapping[str, Sequence[str]]
"""Kind -> all labels of its recognizer, in words."""

_LEAST_SHIFT, _MOST_SHIFT = 0.25, 0.75
"""Shares of the video's length: far enough that hardly a cue meets its old place."""

FILLER = (
    "this line is here to take up room and says nothing about what can be seen or heard in it "
    "nor about anything else so that only the length of the text is the same as before"
)


def fuse_control(
    control: Control,
    timeline: CueTimeline,
    question: Question,
    options: FusionOptions | None = None,
    tools: Tools | None = None,
    *,
    other: CueTimeline | None = None,
    vocabulary: Vocabulary | None = None,
) -> CuePrompt:
    """As ``fuse``, with a control in place of the truth; ``CuePrompt.control`` records which.

    Args:
        control: name and seed.
        timeline, question, options, tools: as for ``fuse``.
        other: the timeline of another video, for ``foreign``.
        vocabulary: for ``drawn``; a kind of labels that is missing draws from the labels in its
            own track.

    Raises:
        UnknownName: there is no such control.
        BadInput: ``foreign`` without another video's timeline; and as ``fuse``.
    """
    options, tools = options or FusionOptions(), tools or Tools()
    if control.name in _OF_BLOCKS:
        prompt = fuse(timeline, question, options, tools)
        text = ""
        if prompt.text:
            kept = prompt.selection.kept
            is_filled = control.name == "filler"
            text = (
                _filled(prompt, tools, control.seed) if is_filled else heading(kept, options.render)
            )
        return _blank(prompt, timeline, control, text)
    if control.name not in CONTROLS:
        raise UnknownName("control", control.name, CONTROLS)
    timeline = corrupted(control, timeline, other=other, vocabulary=vocabulary)
    return replace(fuse(timeline, question, options, tools), control=control)


def corrupted(
    control: Control,
    timeline: CueTimeline,
    *,
    other: CueTimeline | None = None,
    vocabulary: Vocabulary | None = None,
) -> CueTimeline:
    """The timeline under one of the first four controls; arguments as of ``fuse_control``.

    Raises:
        UnknownName: it is none of the four.
        BadInput: ``foreign`` without another video's timeline.
    """
    if control.name not in _OF_TIMELINES:
        raise UnknownName("control of a timeline", control.name, _OF_TIMELINES)
    tracks = timeline.tracks
    if control.name == "foreign":
        if other is None:
            raise BadInput(
                "The control 'foreign' needs the cues of another video; give its NAME.cues.json "
                "(--foreign)."
            )
        if other.video.sha256 == timeline.video.sha256:
            raise BadInput(
                "The control 'foreign' needs the cues of another video; those given are of the "
                f"same one ({other.video.name!r})."
            )
        tracks = _stretched(other, timeline.video.duration_s)
    made = []
    for track in tracks:
        cues = _changed(control, track, timeline.video.duration_s, vocabulary or {})
        made.append(_recorded(track, cues, control))
    return replace(timeline, tracks=tuple(made))


def _changed(
    control: Control, track: CueTrack, duration_s: float, vocabulary: Vocabulary
) -> tuple[Cue, ...]:
    whose = "" if control.name == "shifted" else f" {track.id}"
    dice = random.Random(f"{control.name} {control.seed}{whose}")  # noqa: S311
    if control.name == "shuffled":
        return _shuffled(track.cues, dice)
    if control.name == "shifted":
        return _shifted(track.cues, duration_s, dice)
    if control.name == "drawn":
        return _drawn(track, vocabulary, dice)
    return track.cues


def _recorded(track: CueTrack, cues: tuple[Cue, ...], control: Control) -> CueTrack:
    done = {"control": control.name, "seed": control.seed, "of": track.source.name}
    if track.origin is Origin.HUMAN:
        done["of_origin"] = str(Origin.HUMAN)
    source = replace(track.source, settings={**track.source.settings, **done})
    notes = track.notes
    if cues and control.name != "foreign" and cues == track.cues:
        notes = (*notes, f"The control {control.name!r} changes nothing here.")
    return replace(track, cues=cues, origin=Origin.CONTROL, source=source, notes=notes)


def _shuffled(cues: tuple[Cue, ...], dice: random.Random) -> tuple[Cue, ...]:
    """By one random cycle, so that no cue keeps what it said (Sattolo 1986)."""
    said = list(cues)
    for last in range(len(said) - 1, 0, -1):
        other = dice.randrange(last)
        said[last], said[other] = said[other], said[last]
    return tuple(
        replace(new, id=old.id, span=old.span) for old, new in zip(cues, said, strict=True)
    )


def _shifted(cues: tuple[Cue, ...], duration_s: float, dice: random.Random) -> tuple[Cue, ...]:
    offset_s = duration_s * dice.uniform(_LEAST_SHIFT, _MOST_SHIFT)
    shifted = []
    for cue in cues:
        length_s = min(cue.span.duration_s, duration_s)
        start_s = (cue.span.start_s + offset_s) % duration_s if duration_s else 0.0
        start_s = max(0.0, min(start_s, duration_s - length_s))
        shifted.append(replace(cue, span=Span(start_s, start_s + length_s)))
    return tuple(shifted)


def _drawn(track: CueTrack, vocabulary: Vocabulary, dice: random.Random) -> tuple[Cue, ...]:
    if track.kind in LABEL_KINDS:
        labels = sorted(vocabulary.get(track.kind) or _own_labels(track))
        return tuple(_with_labels(cue, track, labels, dice) for cue in track.cues)
    words = [word for cue in track.cues for word in cue.text.split()]
    return tuple(
        replace(cue, text=" ".join(dice.choice(words) for _ in cue.text.split()), attributes={})
        for cue in track.cues
    )


def _own_labels(track: CueTrack) -> set[str]:
    named = {label for cue in track.cues for label, _ in top_labels(cue)}
    return named or {cue.text for cue in track.cues}


def _with_labels(cue: Cue, track: CueTrack, labels: Sequence[str], dice: random.Random) -> Cue:
    """Another label, and other rivals with the same probabilities; who and where stay."""
    subject, predicate = subject_and_predicate(KeptCue(track.kind, cue, cue.confidence))
    true = (predicate, cue.attributes.get("label"))
    others = [label for label in labels if label not in true] or list(labels)
    dice.shuffle(others)
    scores = [score for _, score in top_labels(cue)]
    top = [[label, score] for label, score in zip(others, scores, strict=False)]
    head = f"{subject}, " if "," in subject else f"{subject} " if subject else ""
    same = {key: cue.attributes[key] for key in ("person", "where") if key in cue.attributes}
    attributes = {**same, "label": others[0], **({"top": top} if top else {})}
    return replace(cue, text=f"{head}{others[0]}", attributes=attributes)


def _stretched(other: CueTimeline, duration_s: float) -> tuple[CueTrack, ...]:
    factor = duration_s / other.video.duration_s if other.video.duration_s else 0.0

    def stretched(cue: Cue) -> Cue:
        return replace(cue, span=Span(cue.span.start_s * factor, cue.span.end_s * factor))

    return tuple(replace(track, cues=tuple(map(stretched, track.cues))) for track in other.tracks)


def _blank(prompt: CuePrompt, timeline: CueTimeline, control: Control, text: str) -> CuePrompt:
    """``text`` in the place of the cues, all of which are left out for the control's sake."""
    inside = {id for item in prompt.selection.kept for id in item.ids}
    gone = (
        DroppedCue(track.kind, cue, f"left out for the control {control.name!r}")
        for track, cue in timeline.cues()
        if cue.id in inside
    )
    dropped = sorted(
        [*prompt.selection.dropped, *gone],
        key=lambda item: (item.cue.span, item.kind, id_order(item.cue.id)),
    )
    return CuePrompt(text, Selection((), tuple(dropped)), control=control)


def _filled(prompt: CuePrompt, tools: Tools, seed: int) -> str:
    """The notice and lines of filler as long as the lines of the block; as many tokens as the
    block, or fewer by less than one word has."""
    notice, *lines = prompt.text.split("\n")
    filler = FILLER.split()
    first = random.Random(seed).randrange(len(filler))  # noqa: S311
    words = itertools.cycle(filler[first:] + filler[:first])
    made = [notice]
    for line in lines:
        said = "-"
        while len(said) < len(line):
            said += f" {next(words)}"
        made.append(said)
    text, wanted = "\n".join(made), tools.count_tokens(prompt.text)
    while text and tools.count_tokens(text) > wanted:
        text = text[: max(text.rfind(" "), text.rfind("\n"), 0)]
    for word in itertools.islice(words, len(prompt.text)):
        if tools.count_tokens(longer := f"{text} {word}") > wanted:
            break
        text = longer
    return text
