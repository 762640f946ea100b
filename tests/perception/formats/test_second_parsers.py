"""Files that other programs read and write: ELAN, Praat and captions in independent libraries."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path

import av
import pytest

from perception.format import Annotation
from tests.perception.formats.material import HOSTILE, built, timeline, track

LINES = tuple(text for text in HOSTILE if "\n" not in text)
OVERLAPPING = timeline(
    track("speech", (0, 2, "one"), (1, 3, "two"), (2.5, 4, "three")),
    track("on the left", *((2 * n, 2 * n + 1.234, text) for n, text in enumerate(LINES))),
)


def spans(said: tuple[Annotation, ...]) -> list[tuple[str, float, float, str]]:
    return [(each.track, each.span.start_s, each.span.end_s, each.text) for each in said]


def test_pympi_opens_what_is_written_for_elan(tmp_path: Path) -> None:
    elan = pytest.importorskip("pympi.Elan", reason="needs the extra test")
    path = tmp_path / "clip.eaf"
    path.write_bytes(built("elan").write(OVERLAPPING))
    eaf = elan.Eaf(str(path))
    assert list(eaf.get_tier_names()) == ["speech", "speech [row 2]", "on the left"]
    assert [each[:3] for each in eaf.get_annotation_data_for_tier("speech")] == [
        (0, 2000, "one"),
        (2500, 4000, "three"),
    ]
    assert eaf.get_annotation_data_for_tier("speech [row 2]")[0][:3] == (1000, 3000, "two")
    left = [each[:3] for each in eaf.get_annotation_data_for_tier("on the left")]
    assert left == [(2000 * n, 2000 * n + 1234, text) for n, text in enumerate(LINES)]
    assert eaf.get_linked_files()[0]["RELATIVE_MEDIA_URL"] == "./clip.mp4"


def test_what_pympi_writes_is_read(tmp_path: Path) -> None:
    """An aligned tier, one that annotates it, and one that divides it into three."""
    elan = pytest.importorskip("pympi.Elan", reason="needs the extra test")
    eaf = elan.Eaf()
    eaf.remove_tier("default")
    eaf.add_linguistic_type("words", constraints="Symbolic_Subdivision")
    eaf.add_linguistic_type("gloss", constraints="Symbolic_Association")
    eaf.add_tier("utterance")
    eaf.add_tier("translation", "gloss", "utterance")
    eaf.add_tier("words", "words", "utterance")
    eaf.add_annotation("utterance", 1000, 4000, "<ich & du>")
    eaf.add_ref_annotation("translation", "utterance", 2000, "me & you")
    for word in ("ich", "und", "du"):
        previous = eaf.tiers["words"][1]
        eaf.add_ref_annotation(
            "words", "utterance", 2000, word, list(previous)[-1] if previous else None
        )
    path = tmp_path / "theirs.eaf"
    elan.to_eaf(str(path), eaf)
    assert spans(built("elan").read(path.read_bytes())) == [
        ("utterance", 1.0, 4.0, "<ich & du>"),
        ("translation", 1.0, 4.0, "me & you"),
        ("words", 1.0, 2.0, "ich"),
        ("words", 2.0, 3.0, "und"),
        ("words", 3.0, 4.0, "du"),
    ]


def test_textgrid_opens_what_is_written_for_praat(tmp_path: Path) -> None:
    praat = pytest.importorskip("textgrid", reason="needs the extra test")
    path = tmp_path / "clip.TextGrid"
    path.write_bytes(built("textgrid").write(OVERLAPPING))
    grid = praat.TextGrid.fromFile(str(path))
    assert [tier.name for tier in grid] == ["speech", "speech [row 2]", "on the left"]
    for tier in grid:
        assert (tier.minTime, tier.maxTime) == (0, 60)
        assert all(a.maxTime == b.minTime for a, b in pairwise(tier))
    labels = [(i.minTime, i.maxTime, i.mark) for i in grid[0] if i.mark]
    assert labels == [(0, 2, "one"), (2.5, 4, "three")]
    left = [(i.minTime, i.mark) for i in grid[2] if i.mark]
    assert left == [(2.0 * n, text) for n, text in enumerate(LINES)]


def test_what_textgrid_writes_is_read(tmp_path: Path) -> None:
    praat = pytest.importorskip("textgrid", reason="needs the extra test")
    grid = praat.TextGrid(maxTime=10)
    words, beats = praat.IntervalTier("words", 0, 10), praat.PointTier("beats", 0, 10)
    words.add(1.5, 2.25, 'say "hello"')
    beats.add(3.125, "tap")
    grid.append(words)
    grid.append(beats)
    path = tmp_path / "theirs.TextGrid"
    grid.write(str(path))
    assert spans(built("textgrid").read(path.read_bytes())) == [
        ("words", 1.5, 2.25, 'say "hello"'),
        ("beats", 3.125, 3.125, "tap"),
    ]


def test_pympi_opens_the_same_grid(tmp_path: Path) -> None:
    praat = pytest.importorskip("pympi.Praat", reason="needs the extra test")
    path = tmp_path / "clip.TextGrid"
    path.write_bytes(built("textgrid").write(OVERLAPPING))
    grid = praat.TextGrid(str(path))
    assert [name for _, name in grid.get_tier_name_num()] == [
        "speech",
        "speech [row 2]",
        "on the left",
    ]
    said = [each for each in grid.get_tier("speech").get_intervals() if each[2]]
    assert said == [(0, 2, "one"), (2.5, 4, "three")]


def test_webvtt_py_opens_what_is_written_for_browsers() -> None:
    webvtt = pytest.importorskip("webvtt", reason="needs the extra test")
    plain = timeline(track("speech", (0.5, 2, "one"), (1, 3, "two\nlines"), (3661.5, 3662, "late")))
    captions = webvtt.from_string(built("webvtt").write(plain).decode())
    assert [(c.start, c.end, c.text, c.identifier) for c in captions] == [
        ("00:00:00.500", "00:00:02.000", "one", "speech-0"),
        ("00:00:01.000", "00:00:03.000", "two\nlines", "speech-1"),
        ("01:01:01.500", "01:01:02.000", "late", "speech-2"),
    ]


def test_no_text_makes_webvtt_py_see_other_cues() -> None:
    webvtt = pytest.importorskip("webvtt", reason="needs the extra test")
    cues = track("speech", *((2 * n, 2 * n + 1, text) for n, text in enumerate(HOSTILE)))
    captions = webvtt.from_string(built("webvtt").write(timeline(cues)).decode())
    assert [c.start_in_seconds for c in captions] == [2 * n for n in range(len(HOSTILE))]


def test_what_webvtt_py_writes_is_read() -> None:
    webvtt = pytest.importorskip("webvtt", reason="needs the extra test")
    vtt = webvtt.WebVTT()
    vtt.captions.append(webvtt.Caption("00:00:01.000", "00:00:02.500", "<v Ann>a &lt; <i>b</i>"))
    (said,) = built("webvtt").read(vtt.content.encode())
    assert (said.span.start_s, said.span.end_s, said.text) == (1.0, 2.5, "a < b")
    assert said.attributes == {"speaker": "Ann"}


@pytest.mark.parametrize(("name", "suffix"), [("srt", "srt"), ("webvtt", "webvtt")])
def test_ffmpeg_sees_the_cues_and_no_others(name: str, suffix: str) -> None:
    cues = track("speech", *((2 * n, 2 * n + 1.25, text) for n, text in enumerate(HOSTILE)))
    content = io.BytesIO(built(name).write(timeline(cues)))
    with av.open(content, format=suffix) as container:
        packets = [packet for packet in container.demux() if packet.size]
        seen = [
            (float(packet.pts * packet.time_base), float(packet.duration * packet.time_base))
            for packet in packets
        ]
    assert seen == [(2.0 * n, 1.25) for n in range(len(HOSTILE))]
