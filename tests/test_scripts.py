"""Texts of all scripts, right to left too, come unharmed from the picture to the page."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from fusion.fuse import fuse
from fusion.question import Question
from perception.cue import Cue, CueTimeline, CueTrack, Source, Span, VideoInfo
from perception.recognizer import Frame
from perception.recognizers.screen_text import Options, build
from reasoning.viewer.page import page

TEXTS = {
    "Arabic": "مرحبا بكم في المسرح 3",
    "Hebrew": "ברוכים הבאים, שער 7",
    "Persian": "می‌خواهم",
    "Urdu": "خوش آمدید",
    "Chinese": "禁止入内",
    "Japanese": "出口はこちら",
    "Korean": "무언극 축제",
    "Thai": "ทางลัด",
    "Hindi": "स्वागत है",
    "mixed": "EXIT / خروج / 出口",
}
VIDEO = VideoInfo("clip.mp4", "ab" * 32, 0.0, 9.0, 640, 360, 25.0)


def timeline(text: str) -> CueTimeline:
    cue = Cue("screen_text-1", Span(1, 4), text, 0.93, {"readings": 3})
    return CueTimeline(
        VIDEO, (CueTrack("screen_text", "screen_text", Source("screen_text"), (cue,)),)
    )


class Isolated(HTMLParser):
    """The texts of all ``bdi`` elements, which direct themselves, and of the prompt."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.prompt = ""
        self._open: list[str] = []
        self._in_prompt = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "bdi":
            self._open.append("")
        self._in_prompt |= ("id", "prompt") in attrs

    def handle_endtag(self, tag: str) -> None:
        if tag == "bdi":
            self.texts.append(self._open.pop())
        self._in_prompt &= tag != "pre"

    def handle_data(self, data: str) -> None:
        self._open = [text + data for text in self._open]
        self.prompt += data if self._in_prompt else ""


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_survives_the_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "clip.cues.json"
    path.write_text(timeline(text).to_json(), encoding="utf-8")
    assert CueTimeline.read(path) == timeline(text)
    [track] = json.loads(path.read_text(encoding="utf-8"))["tracks"]
    assert track["cues"][0]["text"] == text


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_survives_the_prompt(text: str) -> None:
    prompt = fuse(timeline(text), Question("What does the sign say?"))
    [line] = [line for line in prompt.text.splitlines() if line.startswith("- ")]
    assert line.startswith(f'- 0:01.0-0:04.0 screen text: "{text}"')


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_survives_the_page_and_turns_nothing_around_it(text: str) -> None:
    """Wherever it stands it is isolated, so that the digits beside it keep their places."""
    prompt = fuse(timeline(text), Question("What does the sign say?"))
    shown = Isolated(page(timeline(text), prompt=prompt))
    assert shown.texts.count(text) == 2, "in the prompt and in the table"
    assert f'screen text: "{text}"' in shown.prompt


def test_chinese_is_read_from_a_picture() -> None:
    image_font = pytest.importorskip("PIL.ImageFont")
    fonts = pytest.importorskip(
        "noto_cjk_sans_jp_regular", reason="needs the extra: test (its CJK font)"
    )
    from PIL import Image, ImageDraw

    file = next(Path(fonts.__file__).parent.glob("*.otf"))
    image = Image.new("RGB", (480, 270), (90, 120, 90))
    ImageDraw.Draw(image).text((90, 90), "禁止入内", (255, 255, 255), image_font.truetype(file, 56))
    session = build(Options()).start(VIDEO)
    session.feed([Frame(0.0, np.asarray(image, np.uint8), 1.0, 9.0)])
    track = session.finish().track
    assert [cue.text for cue in track.cues] == ["禁止入内"]
    line = fuse(CueTimeline(VIDEO, (track,)), Question("What is forbidden?")).text.splitlines()[-1]
    assert '"禁止入内"' in line
