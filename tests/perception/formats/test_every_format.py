"""What every format keeps to: a timeline written and read again has its spans and its texts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perception import plugins
from perception.cue import Cue, CueTrack, Source, Span
from perception.errors import BadInput
from perception.format import FOLDER, by_name, by_suffix
from tests.perception.formats.material import (
    HOSTILE,
    VIDEO,
    built,
    came_back,
    expected,
    needed,
    timeline,
    track,
)

NAMES = plugins.names(FOLDER)

texts = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(max_size=30),
    st.text("\n\r\t \"'<>&-=!{}\\/[]1i\u2060\u200f\u202e\ufeff\x00\x0b\x85\u2028", max_size=12),
)
times = st.one_of(st.integers(0, 60_000).map(lambda ms: ms / 1000), st.floats(0, 59.99))
spans = st.tuples(times, times).map(lambda pair: Span(min(pair), max(pair)))


@st.composite
def tracks(draw: st.DrawFn) -> tuple[CueTrack, ...]:
    names = draw(
        st.lists(
            st.sampled_from(
                [
                    "speech",
                    "screen_text",
                    "on the left",
                    "on the left [row 2]",
                    "on the left [row 2] [row 1]",
                    "<画面> \"&.%' [row 2]",
                    "-1",
                ]
            ),
            min_size=1,
            max_size=3,
            unique=True,
        )
    )
    made = []
    for name in names:
        drawn = draw(st.lists(st.tuples(spans, texts, st.floats(0, 1)), max_size=4))
        cues = [Cue(f"{name}-{n}", *each) for n, each in enumerate(drawn)]
        made.append(CueTrack(name, name, Source("x"), tuple(cues)))
    return tuple(made)


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    needed(request.param)
    return str(request.param)


@pytest.mark.parametrize("format", NAMES)
@given(tracks=tracks())
def test_spans_and_texts_make_the_round_trip(format: str, tracks: tuple[CueTrack, ...]) -> None:
    needed(format)
    whole = timeline(*tracks)
    assert came_back(format, whole) == expected(format, whole)


def test_tracks_that_are_called_like_rows_of_another_stay_apart(name: str) -> None:
    both = (0, 2, "one"), (1, 3, "other"), (1.5, 2.5, "third")
    names = ("a", "a [row 2]", "a [row 2] [row 1]", "a [row 1]", "b [row 3]", "a [row 2] [row 2]")
    whole = timeline(*(track(each, *both) for each in names))
    assert came_back(name, whole) == expected(name, whole)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(name: str, text: str) -> None:
    whole = timeline(track("a", (1, 2, text), (1.5, 2.5, "plain"), (3, 4, text)), track("b"))
    assert came_back(name, whole) == expected(name, whole)


def test_a_timeline_without_cues_is_a_file_without_cues(name: str) -> None:
    format = built(name)
    assert format.read(format.write(timeline())) == ()
    assert format.read(format.write(timeline(track("a")))) == ()


def test_what_is_not_said_to_be_lost_is_carried(name: str) -> None:
    format = built(name)
    cue = Cue("a-7", Span(1, 2), "waves", 0.25, {"label": "wave", "top": [["wave", 0.25]]})
    whole = timeline(CueTrack("left", "action", Source("x"), (cue,)), track("b", (3, 4, "hello")))
    back = next(each for each in format.read(format.write(whole)) if each.text == "waves")
    lost = " ".join(format.cannot_carry)
    assert ("confidence" in lost) == (back.confidence != 0.25)
    assert ("attributes" in lost) == (dict(back.attributes) != cue.attributes)
    assert ("cue ids" in lost) == (not back.id.endswith("a-7"))
    assert ("cue kinds" in lost) == (back.kind != "action")


def test_half_characters_are_replaced_where_utf8_cannot_hold_them(name: str) -> None:
    whole = timeline(track("a", (0, 1, "half \ud800 character")))
    assert [trip.text for trip in came_back(name, whole)] in (
        ["half \ufffd character"],
        ["half \ud800 character"],
    )


@pytest.mark.parametrize(
    "content",
    [b"", b"\0\1\2\3", b"\xff\xfe\xfd", b"{}", b"[1, 2]", b"<a/>", b"a,b\n1,2\n", b'File "x"\n3\n'],
)
def test_what_is_no_such_file_is_one_clear_error(name: str, content: bytes) -> None:
    format = built(name)
    if name == "srt" and not content:
        assert format.read(content) == ()
        return
    with pytest.raises(BadInput) as caught:
        format.read(content)
    assert "\n" not in str(caught.value)


def test_a_file_that_breaks_off_never_escapes_as_another_error(name: str) -> None:
    format = built(name)
    whole = format.write(timeline(track("a", (0, 1, HOSTILE[0]), (2, 3, HOSTILE[3])), track("b")))
    count = len(format.read(whole))
    for end in range(0, len(whole), max(1, len(whole) // 60)):
        try:
            found = format.read(whole[:end])
        except BadInput:
            continue
        assert len(found) <= count


def test_a_video_of_any_name_can_be_told(name: str) -> None:
    odd = replace(VIDEO, name='ein "Lied" & <mehr>\udcff\'.mp4')
    whole = replace(timeline(track("a", (0, 1, "x"))), video=odd)
    format = built(name)
    assert [each.text for each in format.read(format.write(whole))] == ["x"]


@pytest.mark.parametrize(
    ("called", "name"),
    [("vtt", "webvtt"), (".EAF", "elan"), ("csv", "csv_table"), ("csv-table", "csv_table")],
)
def test_a_format_is_known_by_its_suffix_too(called: str, name: str) -> None:
    assert by_name(called) == name


def test_a_suffix_that_several_formats_have_is_no_choice() -> None:
    assert by_suffix(Path("a/b.TextGrid")) == "textgrid"
    assert by_suffix(Path("clip.via.json")) == "via"
    with pytest.raises(BadInput, match="may be one of fiftyone, labelstudio, via"):
        by_suffix(Path("clip.json"))
    with pytest.raises(BadInput, match="has the end of no format"):
        by_suffix(Path("clip.docx"))
