"""How quickly the timeline page shows and moves 10,000 spans, in a real Chromium.

    python -m benchmarks.timeline_page
    python -m benchmarks.timeline_page --spans 50000 --json

The first paint is the browser's own *first contentful paint*, counted from the start of the
navigation, and the lanes are drawn when the script's first frame is done. The drag is a mouse that
pans a zoomed timeline for some seconds; each of its frames is timed by ``requestAnimationFrame``.
Needs Playwright (the extra ``test``) and Chromium (Debian: ``apt-get install chromium``).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from fusion.fuse import fuse
from fusion.question import Question
from perception.cue import Cue, CueTimeline, CueTrack, Source, Span, VideoInfo
from reasoning.viewer.extras import Extras
from reasoning.viewer.given import Block
from reasoning.viewer.page import write_page

WORDS = ("waves", "walks", "pulls a rope", "climbs a ladder", "leans on a wall", "looks around")
LENGTH_S = 1800.0
PEOPLE = 4
RUNS = 5
DRAG_STEPS = 180

FRAMES = """() => {
  const gaps = globalThis.gaps = [];
  let last = performance.now();
  const each = (now) => { gaps.push(now - last); last = now; requestAnimationFrame(each); };
  requestAnimationFrame(each);
}"""
"""Notes the time between frames in milliseconds."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spans", type=int, default=10_000)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        write(page, chosen.spans)
        found = {"spans": chosen.spans, "megabytes": round(page.stat().st_size / 1e6, 1)}
        found |= measured(page)
    if chosen.json:
        print(json.dumps(found, indent=1))
        return
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {found.pop('browser')}")
    for name, value in found.items():
        print(f"{name.replace('_', ' ')}: {value}")


def timeline(spans: int) -> CueTimeline:
    """Half an hour: actions of four people that overlap, and texts."""
    random.seed(0)
    cues = []
    for number in range(spans * 4 // 5):
        start_s = random.uniform(0, LENGTH_S - 3)
        person = 1 + number % PEOPLE
        text = f"person {person} {random.choice(WORDS)}"
        top = [[word, round(random.random() / 5, 3)] for word in WORDS[:5]]
        span = Span(start_s, start_s + random.uniform(0.3, 3))
        attributes = {"person": person, "label": text, "top": top, "window_s": 2.0}
        cues.append(Cue(f"action-{number}", span, text, random.random(), attributes))
    texts = []
    for number in range(spans - len(cues)):
        start_s = random.uniform(0, LENGTH_S - 5)
        span = Span(start_s, start_s + random.uniform(0.5, 5))
        texts.append(Cue(f"screen_text-{number}", span, f"SIGN {number}", random.random()))
    return CueTimeline(
        VideoInfo("none.mp4", "0" * 64, 0.0, LENGTH_S, 1280, 720, 30.0),
        (
            CueTrack("action", "action", Source("action"), tuple(cues)),
            CueTrack("screen_text", "screen_text", Source("screen_text"), tuple(texts)),
        ),
    )


def write(page: Path, spans: int) -> None:
    """A page with a prompt, so that most spans are hatched, the dearest to draw."""
    made = timeline(spans)
    question = Question("What does the first person pull?")
    write_page(page, made, extras=Extras(blocks=(Block(fuse(made, question), question.text),)))


def measured(page: Path) -> dict[str, Any]:
    """Figures of the page, the median of several openings."""
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        openings = [opening(browser, page) for _ in range(RUNS)]
        dragged = dragging(browser, page)
        version = f"Chromium {browser.version}"
        browser.close()
    return {
        "browser": version,
        "first_paint_s": round(statistics.median(paint for paint, _ in openings), 3),
        "lanes_drawn_s": round(statistics.median(drawn for _, drawn in openings), 3),
        **dragged,
    }


def opening(browser: Any, page: Path) -> tuple[float, float]:
    """Seconds to the first contentful paint, and to the end of the script's first drawing."""
    tab = browser.new_page(viewport={"width": 1366, "height": 768})
    tab.goto(page.as_uri())
    tab.wait_for_timeout(500)
    paint, drawn = tab.evaluate(
        """() => [performance.getEntriesByName("first-contentful-paint")[0].startTime,
                  performance.getEntriesByName("cuelight-drawn")[0].startTime]"""
    )
    tab.close()
    return paint / 1000, drawn / 1000


def dragging(browser: Any, page: Path) -> dict[str, Any]:
    """Frames a second while a mouse pans, over all of the timeline and over a tenth of it."""
    tab = browser.new_page(viewport={"width": 1366, "height": 768})
    tab.goto(page.as_uri())
    tab.wait_for_timeout(500)
    found = {}
    for name, zooms in (("half of it", 1), ("a sixteenth", 4)):
        tab.keyboard.press("0")
        for _ in range(zooms):
            tab.locator("#zoom-in").click()
        box = tab.locator(".cues canvas").first.bounding_box()
        middle, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        tab.mouse.move(middle, y)
        tab.mouse.down()
        tab.evaluate(FRAMES)
        for step in range(DRAG_STEPS):
            tab.mouse.move(middle + 300 * (1 if step // 30 % 2 else -1) * (step % 30) / 30, y)
        gaps = sorted(tab.evaluate("globalThis.gaps.splice(0)"))
        tab.mouse.up()
        slow = gaps[int(len(gaps) * 0.95)]
        found[f"drag, {name}"] = (
            f"{1000 / statistics.mean(gaps):.0f} frames/s, slowest twentieth {1000 / slow:.0f}"
        )
    tab.close()
    return found


if __name__ == "__main__":
    main()
