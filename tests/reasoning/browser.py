"""Chromium for the tests of the page, and a film whose every picture can be told by its grey."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)

TIMES_S = tuple(n * 0.04 for n in range(25)) + tuple(1.21 + n * 0.08 for n in range(25))
"""Of the film's pictures: 25 a second at first, then 12.5, off the grid of the first."""

GREY_STEP = 4
WIDTH, HEIGHT = 320, 180


def launched() -> Iterator[Any]:
    """A browser; skips where Playwright or Chromium is missing."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium (Debian: apt-get install chromium)")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs the extra: test (its playwright)"
    )
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def film(path: Path, start_s: float = 0.0, codec: str = "libx264") -> None:
    """Picture n, at ``TIMES_S[n]`` on the presentation clock, has the grey ``10 + GREY_STEP n``."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=25)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        if codec == "libx264":
            stream.options = {"bf": "0", "g": "10", "crf": "10"}
        stream.codec_context.time_base = Fraction(1, 1000)
        for number, time_s in enumerate(TIMES_S):
            grey = np.full((HEIGHT, WIDTH, 3), 10 + GREY_STEP * number, np.uint8)
            frame = av.VideoFrame.from_ndarray(grey, format="rgb24")
            frame.pts, frame.time_base = round((start_s + time_s) * 1000), Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def wait(page: Any, expression: str) -> None:
    """Until it is true; Playwright's own way needs an ``eval`` that the page's policy forbids."""
    for _ in range(200):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never true: {expression}")


def shows(page: Any, number: int) -> bool:
    """Whether the player comes to show that picture of the film: a busy machine paints it some time
    after the player has told that it found it."""
    for _ in range(100):
        if _picture_shown(page) == number:
            return True
        page.wait_for_timeout(50)
    return False


def _picture_shown(page: Any) -> int:
    """It is told without reading pixels of the video, which a page from a file may not."""
    from PIL import Image

    shot = page.locator("#player").screenshot()
    pixels = np.asarray(Image.open(io.BytesIO(shot)).convert("L"), np.float64)
    middle = pixels.shape[1] // 2
    return round((float(pixels[8:40, middle - 20 : middle + 20].mean()) - 10) / GREY_STEP)
