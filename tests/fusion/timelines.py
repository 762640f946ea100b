"""Timelines for the tests of fusion, small enough to work out by hand, and strategies for any."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from perception.cue import Cue, CueTimeline, CueTrack, Source, Span, VideoInfo

VIDEO = VideoInfo("clip.mp4", "0" * 64, 0.0, 120.0, 640, 360, 30.0)


def cue(id: str, start_s: float, end_s: float, text: str, confidence: float) -> Cue:
    return Cue(id, Span(start_s, end_s), text, confidence)


def timeline(**tracks: Sequence[Cue]) -> CueTimeline:
    made = (CueTrack(kind, kind, Source(kind), tuple(cues)) for kind, cues in tracks.items())
    return CueTimeline(VIDEO, tuple(made))


ROOF = timeline(
    action=[
        cue("action-1", 0.3, 2.5, "person 1, upper left, waves both hands", 0.96),
        cue("action-2", 3.3, 4.4, "person 1, upper left, walks", 0.41),
        cue("action-3", 4.7, 5.8, "person 1, upper left, jumps", 0.695),
    ],
    screen_text=[cue("screen_text-1", 1.0, 4.0, "NO ENTRY", 0.93)],
    speech=[cue("speech-1", 5.0, 7.25, "Mind the gap!", 0.6)],
)

HOSTILE = st.text(
    alphabet=st.one_of(
        st.sampled_from(list("\"'<>[]|/\\\n\r\t-:()%“”«»＂＜［‘ aA0é中שא")),
        st.sampled_from(["\u202e", "\u2066", "\u200b", "\u200d", "\u2028", "\x00", "\x1b", "\x85"]),
        st.characters(),
    ),
    max_size=40,
)


@st.composite
def any_timeline(draw: st.DrawFn) -> CueTimeline:
    tracks = []
    for number, kind in enumerate(draw(st.lists(st.sampled_from(KINDS), max_size=4))):
        texts = HOSTILE | st.sampled_from(["person 1, left, waves", "person 2 waves", "NO ENTRY"])
        rows = draw(
            st.lists(st.tuples(TIMES, TIMES, texts, st.floats(0, 1), ATTRIBUTES), max_size=8)
        )
        cues = [
            Cue(f"{number}-{row}", Span(min(a, b), max(a, b)), text, confidence, attributes)
            for row, (a, b, text, confidence, attributes) in enumerate(rows)
        ]
        tracks.append(CueTrack(f"{kind}-{number}", kind, Source(kind), tuple(cues)))
    return CueTimeline(VIDEO, tuple(tracks))


ATTRIBUTES = st.sampled_from(
    [
        {},
        {"person": 1, "where": "left", "label": "wave"},
        {"person": 2, "label": "wave", "top": [["wave", 0.6], ["jump (50 %), or <x>", 0.3]]},
        {"top": [["none", 0.2], ["wave", 0.7], "broken", ["nan", None]], "label": 7},
        {"person": ["x"], "where": {}, "label": {"a": 1}, "top": "zzz"},
    ]
)
KINDS = ("action", "screen_text", "speech", "shots")
TIMES = st.floats(0, 120) | st.sampled_from([0.0, 1.0, 59.96, 60.0])
