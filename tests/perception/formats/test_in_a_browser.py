"""Captions in Chromium: every text arrives as it was said, and none of it is markup."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from tests.perception.formats.material import HOSTILE, built, timeline, track
from tests.reasoning.browser import launched

LOAD = """async (captions) => {
  const track = document.createElement("track");
  track.src = "data:text/vtt;base64," + captions;
  track.default = true;
  document.querySelector("video").append(track);
  track.track.mode = "showing";
  await new Promise((loaded, failed) => { track.onload = loaded; track.onerror = failed; });
  return [...track.track.cues].map((cue) => {
    const shown = cue.getCueAsHTML();
    const tags = shown.querySelectorAll("*:not(span)").length;
    return [cue.id, cue.startTime, cue.endTime, shown.textContent, tags];
  });
}"""


@pytest.fixture
def browser() -> Iterator[Any]:
    yield from launched()


def test_captions_are_what_was_said(browser: Any) -> None:
    spans = [(2 * n, 2 * n + 1.25, text) for n, text in enumerate(HOSTILE)]
    whole = timeline(track("speech", *spans), track("on the left.<x>", *spans))
    page = browser.new_page()
    page.set_content("<video></video>")
    shown = page.evaluate(LOAD, base64.b64encode(built("webvtt").write(whole)).decode())
    assert sorted(shown) == sorted(
        [cue.id, cue.span.start_s, cue.span.end_s, cue.text, 0] for _, cue in whole.cues()
    )
