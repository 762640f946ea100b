"""The nouns: their limits and their exact round trip."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perception import text_file
from perception.cue import (
    Cue,
    CueTimeline,
    CueTrack,
    Origin,
    Source,
    Span,
    Status,
    VideoInfo,
)
from perception.errors import BadInput
from perception.strict_json import MAX_DEPTH

VIDEO = VideoInfo("clip.mp4", "ab" * 32, 2.5, 10.0, 640, 360, 29.97)
times = st.floats(0, 1e5, allow_nan=False)
spans = st.tuples(times, times).map(lambda pair: Span(min(pair), max(pair)))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def timelines(draw: st.DrawFn) -> CueTimeline:
    tracks = []
    for number in range(draw(st.integers(0, 3))):
        cues = tuple(
            Cue(
                f"{number}-{i}",
                draw(spans),
                draw(st.text()),
                draw(st.floats(0, 1)),
                draw(st.dictionaries(st.text(), json_values, max_size=2)),
            )
            for i in range(draw(st.integers(0, 4)))
        )
        tracks.append(
            CueTrack(
                f"track{number}",
                draw(st.sampled_from(["action", "speech", "画面"])),
                Source("name", "1", "cd" * 32, {"window_s": draw(times)}),
                cues,
                draw(st.sampled_from(Origin)),
                draw(st.sampled_from(Status)),
                tuple(draw(st.lists(st.text(), max_size=2))),
            )
        )
    return CueTimeline(VIDEO, tuple(tracks), draw(st.sampled_from(["", "ef" * 32])))


@given(timelines())
def test_json_round_trip_is_exact(timeline: CueTimeline) -> None:
    assert CueTimeline.from_json(timeline.to_json()) == timeline


def test_json_has_the_published_layout() -> None:
    cue = Cue("a-1", Span(1.25, 2.0), "waves", 0.75, {"person": 1})
    timeline = CueTimeline(VIDEO, (CueTrack("action", "action", Source("posec3d"), (cue,)),))
    document = json.loads(timeline.to_json())
    assert document["schema"] == "cuelight.cues/1"
    assert document["video"]["start_s"] == 2.5
    assert document["tracks"][0]["cues"] == [
        {
            "id": "a-1",
            "start_s": 1.25,
            "end_s": 2.0,
            "text": "waves",
            "confidence": 0.75,
            "attributes": {"person": 1},
        }
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("[]", "must be an object, not an array"),
        ("null", "must be an object, not null"),
        ("[" * 100_000, "nested too deeply"),
        ("{}", "'schema' is missing"),
        ('{"schema": "other/9"}', "other/9"),
    ],
)
def test_what_is_no_timeline_is_one_clear_error(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=r"'x\.cues\.json' is not a cue timeline") as caught:
        CueTimeline.from_json(text, "'x.cues.json'")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ("video.duration_s", "long", "video.duration_s must be a number, not 'long'"),
        ("video.duration_s", float("nan"), "NaN is no number"),
        ("video.duration_s", 10**400, "video.duration_s must be a finite number"),
        (
            "video.duration_s",
            1e12,
            "duration_s of a video is at most 2e+09 s (63 years), not 1e+12",
        ),
        ("tracks.0.cues.0.end_s", 1e300, "A span ends 2e+09 s (63 years) after the start of its"),
        ("video.duration_s", -5, "duration_s of a video is 0 or more and finite, not -5.0"),
        ("video.name", None, "video.name must be a string, not null"),
        ("video.width", True, "video.width must be a whole number, not True"),
        ("video.has_audio", "no", "video.has_audio must be true or false, not 'no'"),
        ("tracks", {}, "tracks must be an array, not an object"),
        ("tracks.0", "x", "tracks[0] must be an object, not 'x'"),
        ("tracks.0.status", "done", "'done' is none of 'complete', 'partial', 'no_signal'"),
        ("tracks.0.notes", [1], "tracks[0].notes[0] must be a string, not 1"),
        ("tracks.0.source", None, "tracks[0].source must be an object, not null"),
        ("tracks.0.source.settings", 5, "tracks[0].source.settings must be an object, not 5"),
        ("tracks.0.cues.0.start_s", "1", "tracks[0].cues[0].start_s must be a number, not '1'"),
        ("tracks.0.cues.0.text", 5, "tracks[0].cues[0].text must be a string, not 5"),
        ("tracks.0.cues.0.attributes", [[1, 2]], "attributes must be an object, not an array"),
    ],
)
def test_every_field_has_its_type(place: str, value: object, said: str) -> None:
    track = CueTrack("speech", "speech", Source("s"), (Cue("a", Span(1, 2), "x", 0.5),))
    document = json.loads(CueTimeline(VIDEO, (track,)).to_json())
    *way, last = [int(step) if step.isdigit() else step for step in place.split(".")]
    inner = document
    for step in way:
        inner = inner[step]
    inner[last] = value
    with pytest.raises(BadInput) as caught:
        CueTimeline.from_json(json.dumps(document), "'x.cues.json'")
    assert "'x.cues.json' is not a cue timeline" in str(caught.value)
    assert said in str(caught.value)


def test_attributes_nest_so_deep_and_no_deeper() -> None:
    def nested(levels: int) -> str:
        value: list[object] = []
        for _ in range(levels):
            value = [value]
        cue = Cue("a", Span(0, 1), "x", 1, {"deep": value})
        return CueTimeline(VIDEO, (CueTrack("t", "t", Source("s"), (cue,)),)).to_json()

    CueTimeline.from_json(nested(MAX_DEPTH - 2))
    with pytest.raises(BadInput, match=r"tracks\[0\]\.cues\[0\]\.attributes is nested more than"):
        CueTimeline.from_json(nested(MAX_DEPTH))


def test_a_name_that_is_no_utf8_makes_the_round_trip(tmp_path: Path) -> None:
    name = os.fsdecode(b"bad\xff\xfe.mp4")
    timeline = CueTimeline(replace(VIDEO, name=name))
    path = tmp_path / "x.cues.json"
    path.write_bytes(timeline.to_json().encode())
    assert CueTimeline.read(path) == timeline


def test_a_file_is_read_by_its_name_as_text_too(tmp_path: Path) -> None:
    path = tmp_path / "clip.cues.json"
    timeline = CueTimeline(VIDEO)
    path.write_text(timeline.to_json(), encoding="utf-8")
    assert CueTimeline.read(str(path)) == CueTimeline.read(path) == timeline


def test_a_number_that_is_not_finite_is_not_written() -> None:
    source = Source("action", settings={"window_s": float("inf")})
    with pytest.raises(BadInput, match="not finite"):
        CueTimeline(VIDEO, (CueTrack("t", "t", source),)).to_json()


def test_a_file_without_an_end_is_not_read_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_file, "MAX_BYTES", 10)
    path = tmp_path / "long.cues.json"
    path.write_text(" " * 11)
    with pytest.raises(BadInput, match="it has more than"):
        CueTimeline.read(path)


@pytest.mark.parametrize("size", [{"width": -1}, {"rate_hz": float("nan")}, {"duration_s": -1.0}])
def test_a_video_has_possible_measures(size: dict[str, float]) -> None:
    with pytest.raises(BadInput, match=f"{next(iter(size))} of a video"):
        replace(VIDEO, **size)


@pytest.mark.parametrize("bad", [(-0.1, 1), (2, 1), (float("nan"), 1), (0, float("inf"))])
def test_a_span_is_finite_forward_and_not_before_the_start(bad: tuple[float, float]) -> None:
    with pytest.raises(BadInput):
        Span(*bad)


@pytest.mark.parametrize("confidence", [-0.01, 1.01, float("nan")])
def test_confidence_stays_in_the_unit_interval(confidence: float) -> None:
    with pytest.raises(BadInput, match="outside"):
        Cue("a", Span(0, 1), "x", confidence)


def test_neighbours_do_not_overlap_and_an_instant_does() -> None:
    assert not Span(0, 1).overlaps(Span(1, 2))
    assert Span(0, 1.1).overlaps(Span(1, 2))
    assert Span(1, 1).overlaps(Span(1, 2))
    assert not Span(0.5, 0.5).overlaps(Span(1, 2))


def test_clamping_never_leaves_the_limit() -> None:
    limit = Span(2, 5)
    assert Span(1, 3).clamped(limit) == Span(2, 3)
    assert Span(4, 9).clamped(limit) == Span(4, 5)
    assert Span(0, 1).clamped(limit) == Span(2, 2)
    assert Span(7, 8).clamped(limit) == Span(5, 5)


def test_cues_stand_in_order_of_time_whatever_order_they_came_in() -> None:
    late, early = Cue("a", Span(3, 4), "b", 1), Cue("b", Span(1, 2), "a", 1)
    assert CueTrack("t", "speech", Source("s"), (late, early)).cues == (early, late)


@given(st.lists(st.integers(0, 10**30), unique=True), st.sampled_from(["sign-", "speech-2-", ""]))
def test_at_one_time_cues_stand_in_the_order_of_the_numbers_in_their_ids(
    numbers: list[int], before: str
) -> None:
    cues = [Cue(f"{before}{number}", Span(1, 2), "x", 1) for number in numbers]
    track = CueTrack("t", "screen_text", Source("s"), tuple(cues))
    assert [cue.id for cue in track.cues] == [f"{before}{n}" for n in sorted(numbers)]


@given(st.lists(st.text("a1٣0-9²", min_size=1), unique=True))
def test_any_ids_have_one_order_however_they_come(ids: list[str]) -> None:
    cues = [Cue(id, Span(1, 2), "x", 1) for id in ids]
    one, other = (CueTrack("t", "k", Source("s"), tuple(each)) for each in (cues, cues[::-1]))
    assert one == other


def test_ids_are_unique() -> None:
    cue = Cue("a", Span(0, 1), "x", 1)
    track = CueTrack("t", "speech", Source("s"), (cue,))
    with pytest.raises(BadInput, match="cue id 'a' more than once"):
        CueTrack("t", "speech", Source("s"), (cue, cue))
    with pytest.raises(BadInput, match="track id 't' more than once"):
        CueTimeline(VIDEO, (track, track))
    with pytest.raises(BadInput, match="cue id 'a' more than once"):
        CueTimeline(VIDEO, (track, CueTrack("u", "action", Source("s"), (cue,))))


def test_between_keeps_what_touches_and_changes_no_time() -> None:
    cues = tuple(Cue(str(i), Span(i, i + 1.5), "x", 1) for i in range(4))
    timeline = CueTimeline(VIDEO, (CueTrack("t", "speech", Source("s"), cues),))
    kept = timeline.between(Span(1.5, 2.0)).tracks[0].cues
    assert [cue.span for cue in kept] == [cues[int(cue.id)].span for cue in kept]
    assert [cue.id for cue in kept] == ["1"]
