"""Which videos hold text that means something: MimeQA's split with text / without text.

"We sample frames from videos at one frame per second and use EasyOCR for text detection. A human
then verifies the detected text, filtering meaningless texts like watermarks" (section 4.3, Table
4). ``has_text`` decides on one track; ``review.py`` keeps what the person says in a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perception.cue import Cue, CueTrack, Span, Status, VideoInfo
from perception.text.similarity import is_similar

__all__ = [
    "WHOLE",
    "SeenText",
    "TextSplit",
    "Verdicts",
    "has_text",
    "seen_texts",
    "split_by_text",
]

Verdicts = Mapping[str, bool]
"""Text -> whether a person says that it means something; ``""`` = the video as a whole."""

WHOLE = ""
"""The key of a verdict on the video as a whole."""


@dataclass(frozen=True, slots=True)
class SeenText:
    """One text of a video, all its appearances together.

    Args:
        text: as it was read most surely.
        spans: when, in order of time.
        confidence: the greatest of its cues'.
        layer: ``overlay``, ``scene``, or empty where geometry does not tell.
        is_watermark: whether it stands still for most of the video.
    """

    text: str
    spans: tuple[Span, ...]
    confidence: float
    layer: str = ""
    is_watermark: bool = False

    @property
    def is_proposed(self) -> bool:
        """Whether it is taken to mean something until a person says otherwise: any text but a
        watermark."""
        return not self.is_watermark


@dataclass(frozen=True, slots=True)
class TextSplit:
    """The videos of a corpus, by name, in the order given.

    Args:
        with_text, without_text: as in MimeQA's Table 4.
        undecided: nothing was found, but the track is partial or failed.
        unreviewed: videos whose place rests on texts that no person has looked at.
    """

    with_text: tuple[str, ...]
    without_text: tuple[str, ...]
    undecided: tuple[str, ...]
    unreviewed: tuple[str, ...]


def seen_texts(track: CueTrack) -> tuple[SeenText, ...]:
    """The texts of a screen text track, similar readings folded together, in order of time."""
    groups: dict[str, list[Cue]] = {}
    for cue in track.cues:
        known = cue.text if cue.text in groups else None
        same = known or next((text for text in groups if is_similar(text, cue.text)), cue.text)
        groups.setdefault(same, []).append(cue)
    return tuple(map(_seen, groups.values()))


def has_text(track: CueTrack, verdicts: Verdicts | None = None) -> bool | None:
    """Whether a video holds text that means something.

    Args:
        track: its screen text.
        verdicts: what a person says. A verdict on the whole video decides; one on a text decides
            for it and for similar readings; a text without one counts unless it is a watermark.

    Returns:
        None where nothing was found in a track that is partial or failed: a failure is no answer.
    """
    verdicts = verdicts or {}
    if WHOLE in verdicts:
        return verdicts[WHOLE]
    texts = seen_texts(track)
    counts = [_verdict_on(seen.text, verdicts) for seen in texts]
    found = any(
        seen.is_proposed if verdict is None else verdict
        for seen, verdict in zip(texts, counts, strict=True)
    )
    if found or any(verdicts.values()):
        return True
    return None if track.status in (Status.PARTIAL, Status.FAILED) else False


def _verdict_on(text: str, verdicts: Verdicts) -> bool | None:
    """What a person says of a text or of one that reads like it; None = nothing."""
    if text in verdicts:
        return verdicts[text]
    return next(
        (said for other, said in verdicts.items() if other and is_similar(text, other)), None
    )


def split_by_text(
    videos: Sequence[tuple[VideoInfo, CueTrack]], verdicts: Mapping[str, Verdicts] | None = None
) -> TextSplit:
    """Put every video on its side.

    Args:
        videos: what each holds, and its screen text.
        verdicts: sha256 of a video -> what a person says of its texts.
    """
    sides: dict[bool | None, list[str]] = {True: [], False: [], None: []}
    unreviewed = []
    for video, track in videos:
        said = (verdicts or {}).get(video.sha256, {})
        side = has_text(track, said)
        sides[side].append(video.name)
        if side is not None and not _is_reviewed(track, said, side):
            unreviewed.append(video.name)
    with_text, without_text, undecided = (tuple(sides[side]) for side in (True, False, None))
    return TextSplit(with_text, without_text, undecided, tuple(unreviewed))


def _is_reviewed(track: CueTrack, verdicts: Verdicts, side: bool) -> bool:
    """Whether the side stands whatever a person may yet say of the other texts."""
    if WHOLE in verdicts or (side and any(verdicts.values())):
        return True
    return all(_verdict_on(seen.text, verdicts) is not None for seen in seen_texts(track))


def _seen(cues: Sequence[Cue]) -> SeenText:
    surest = max(cues, key=lambda cue: cue.confidence)
    layers = {str(cue.attributes["layer"]) for cue in cues if "layer" in cue.attributes}
    return SeenText(
        text=surest.text,
        spans=tuple(cue.span for cue in cues),
        confidence=surest.confidence,
        layer=layers.pop() if len(layers) == 1 else "",
        is_watermark=all(bool(cue.attributes.get("watermark")) for cue in cues),
    )
