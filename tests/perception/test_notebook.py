"""A timeline in a notebook: what it shows, how small it is, and that nothing of it runs."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from perception import notebook
from perception.cue import Cue, CueTimeline, CueTrack, Source, Span, Status, VideoInfo

VIDEO = VideoInfo("<img src=x onerror=alert(1)>.mp4", "ab" * 32, 0.0, 10.0, 640, 360, 25.0)


class Page(HTMLParser):
    """Tags with their attributes, and the text between them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def shown(timeline: CueTimeline) -> Page:
    page = Page(timeline._repr_html_())
    assert page.open == []
    return page


def track(*cues: Cue, **rest: object) -> CueTrack:
    return CueTrack("speech", "speech", Source("s"), cues, **rest)  # type: ignore[arg-type]


def test_a_bar_stands_where_the_cue_is_in_time() -> None:
    page = shown(CueTimeline(VIDEO, (track(Cue("a", Span(2.5, 5), "hello", 1.0)),)))
    bar = next(attributes for _, attributes in page.tags if "title" in attributes)
    assert bar["title"] == "0:02.5–0:05.0 hello"
    assert "left:25.00%" in str(bar["style"])
    assert "width:max(2px,25.00%)" in str(bar["style"])
    assert {"hello", "speech", "1.00"} <= set(page.words)


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", '" onmouseover="alert(1)', "</td></table><b>", "\ud800"]
)
def test_text_from_the_video_is_text(text: str) -> None:
    cues = (Cue("a", Span(0, 1), text, 0.5),)
    noted = track(*cues, status=Status.PARTIAL, notes=(text,))
    page = shown(CueTimeline(VIDEO, (noted,)))
    plain = shown(CueTimeline(VIDEO, (track(Cue("a", Span(0, 1), "x", 0.5), notes=("x",)),)))
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
    assert {name for _, given in page.tags for name in given} == {"style", "title"}
    page_words = "".join(page.words)
    assert text.replace("\ud800", "\ufffd") in page_words
    page_words.encode()


def test_many_long_cues_stay_small_and_say_what_is_left_out() -> None:
    cues = [Cue(f"a{n}", Span(n, n + 1), "&" * 10_000, 0.5) for n in range(10_000)]
    timeline = CueTimeline(VIDEO, (track(*cues),))
    assert len(timeline._repr_html_()) < 400_000
    words = " ".join(shown(timeline).words)
    assert f"Only the first {notebook.MAX_BARS} of 10000 cues are drawn." in words
    assert f"and {10_000 - notebook.MAX_ROWS} more" in words


def test_a_track_without_signal_says_why() -> None:
    silent = track(status=Status.NO_SIGNAL, notes=("There is no sound.",))
    assert "no signal: There is no sound." in shown(CueTimeline(VIDEO, (silent,))).words


def test_no_length_is_no_division_by_zero() -> None:
    empty = VideoInfo("a.mp4", "", 0.0, 0.0, 0, 0, 0.0)
    assert "0 cues" in " ".join(shown(CueTimeline(empty)).words)
