"""The page in a real browser: what a person does with mouse and keys, and what is seen then."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusion.fuse import fuse
from fusion.options import FusionOptions
from fusion.question import Question
from perception import video
from perception.cue import Cue, CueTimeline, CueTrack, Source, Span
from perception.skeleton.people import PersonTrack
from perception.traces import TextBox, pose_traces, text_box_traces
from reasoning.answer import Answer
from reasoning.results.outcomes import Outcome, Outcomes, State
from reasoning.tools.review import Correction, Of, Review, read
from reasoning.viewer.drawn import frame_times_s
from reasoning.viewer.extras import Extras
from reasoning.viewer.given import Block
from reasoning.viewer.page import write_page
from reasoning.viewer.server import PageServer
from reasoning.viewer.serving import page_server
from reasoning.viewer.studied import Studied
from tests.reasoning.browser import TIMES_S, film, launched, shows, wait

EVIL = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=2">'
QUESTION = "What does he do?"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from launched()


def cue(id: str, start_s: float, end_s: float, text: str, sure: float, **attributes: Any) -> Cue:
    return Cue(id, Span(start_s, end_s), text, sure, attributes)


def timeline(path: Path) -> CueTimeline:
    action = Source("action", "1", "c0ffee" * 10 + "0000")
    top = [["wave", 0.9], ["clap", 0.05]]
    return CueTimeline(
        video.probe(path),
        (
            CueTrack(
                "action",
                "action",
                action,
                (
                    cue("wave", 0.4, 0.9, "person 1 waves", 0.9, person=1, label="wave", top=top),
                    cue("walk", 1.2, 2.4, "person 1 walks", 0.3, person=1),
                    cue("jump", 1.0, 2.0, "person 2 jumps", 0.8, person=2),
                ),
            ),
            CueTrack(
                "screen_text",
                "screen_text",
                Source("screen_text"),
                (cue("sign", 0.5, 1.5, EVIL, 0.95),),
            ),
        ),
    )


def traces() -> dict[str, Any]:
    """Person 1 stands with its joints on a line that crosses the picture; the sign is a square."""
    joints = np.array([[40 + 10 * n, 100] for n in range(17)], np.float32)
    times = np.array([0.4, 0.6, 0.8])
    person = PersonTrack(
        id=1,
        times_s=times,
        keypoints=np.stack([joints] * 3),
        scores=np.ones((3, 17), np.float32),
        observed=np.ones(3, np.bool_),
        score=1.0,
    )
    corners = np.array([[200, 60], [280, 60], [280, 90], [200, 90]], np.float32)
    box = [TextBox("sign", time_s, corners) for time_s in (0.5, 1.5)]
    return {**pose_traces("action", [person]), **text_box_traces("screen_text", box)}


def study() -> Studied:
    def row(question: str, condition: str, score: float, category: str) -> Outcome:
        words = {"answer": f"{condition} says {score:g}", "reason": "because of it"}
        facts = ("film.mp4", category, "", condition, "model", 0, State.SCORED, score)
        return Outcome(question, *facts, reference="He waves.", **words)

    rows = (
        row("q1", "no cues", 0, "Temporal"),
        row("q1", "all cues", 1, "Temporal"),
        row("q2", "no cues", 1, "Intention"),
        row("q2", "all cues", 1, "Intention"),
        row("q3", "no cues", 0, "Intention"),
        row("q3", "all cues", 0, "Intention"),
    )
    asked = {"q1": Question("Does he wave?", span=Span(1.2, 2)), "q2": Question("Why?")}
    return Studied(Outcomes(rows), {**asked, "q3": Question(EVIL)})


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Writes a page about a film, opens it and returns the browser's page."""
    contexts = []

    def made(
        start_s: float = 0.0,
        told_start_s: float | None = None,
        name: str = "film.mp4",
        **changes: Any,
    ) -> Any:
        path = tmp_path / name
        film(path, start_s)
        found = timeline(path)
        if told_start_s is not None:
            found = replace(found, video=replace(found.video, start_s=told_start_s))
        every = fuse(found, Question(QUESTION))
        loose = fuse(found, Question(QUESTION), FusionOptions(thresholds={"action": 0.1}))
        extras = Extras(
            traces=traces(),
            frame_times_s=frame_times_s(path),
            blocks=(Block(every, QUESTION, "every_cue"), Block(loose, QUESTION, "loose")),
            calibrated={"wave": 0.7},
            review_name="film.review.json",
        )
        target = tmp_path / "film.html"
        write_page(target, found, video=path, extras=replace(extras, **changes))
        return visit(target.as_uri())

    def visit(url: str) -> Any:
        context = browser.new_context(viewport={"width": 1366, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("console", lambda said: said.type == "error" and page.faults.append(said.text))
        page.goto(url)
        wait(page, "player.readyState >= 2")
        return page

    made.visit = visit  # type: ignore[attr-defined]
    yield made
    for context in contexts:
        context.close()


def state(page: Any) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate("cuelight.state()")
    return found


def middle_of(page: Any, id: str) -> tuple[float, float]:
    place = page.evaluate(f"cuelight.placeOf({json.dumps(id)})")
    return place["left"] + place["width"] / 2, place["top"] + place["height"] / 2


def click(page: Any, id: str) -> None:
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.mouse.click(*middle_of(page, id))


@pytest.mark.parametrize("start_s", [0.0, 2.5])
def test_a_click_on_a_cue_shows_the_picture_of_its_start(
    opened: Callable[..., Any], start_s: float
) -> None:
    page = opened(start_s)
    click(page, "jump")
    wait(page, "!player.seeking")
    assert state(page)["time"] == pytest.approx(1.0)
    assert page.evaluate("player.currentTime") == pytest.approx(1.0 + start_s, abs=0.002)
    assert shows(page, 24)
    assert page.faults == []


def test_a_player_that_subtracts_the_start_is_not_sought_by_it(opened: Callable[..., Any]) -> None:
    """As Firefox's does: it begins at 0 though the container starts later."""
    page = opened(told_start_s=2.5)
    click(page, "jump")
    wait(page, "!player.seeking")
    assert state(page)["time"] == pytest.approx(1.0)
    assert page.evaluate("player.currentTime") == pytest.approx(1.0, abs=0.002)
    assert shows(page, 24)
    page.keyboard.press(" ")
    wait(page, "cuelight.state().time > 1.1")
    assert state(page)["time"] < 2.5


@pytest.mark.parametrize("start_s", [0.0, 2.5])
def test_pictures_are_stepped_through_by_their_own_times(
    opened: Callable[..., Any], start_s: float
) -> None:
    page = opened(start_s)
    page.evaluate(f"cuelight.seek({TIMES_S[23]})")
    assert shows(page, 23)
    for key, number in zip("...,,,", (24, 25, 26, 25, 24, 23), strict=True):
        page.keyboard.press(key)
        assert shows(page, number)
        assert state(page)["time"] == pytest.approx(TIMES_S[number], abs=0.001)


def test_a_cue_is_repeated_until_it_is_let_go(opened: Callable[..., Any]) -> None:
    page = opened()
    page.mouse.dblclick(*middle_of(page, "wave"))
    page.wait_for_timeout(1800)
    assert not page.evaluate("player.paused")
    assert 0.35 <= state(page)["time"] <= 1.05
    page.keyboard.press("r")
    wait(page, "cuelight.state().time > 1.05")


def test_keys_go_between_lanes_and_cues(opened: Callable[..., Any]) -> None:
    page = opened()
    page.keyboard.press("1")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert state(page)["chosen"] == "walk"
    option = page.locator(".lane[data-lane='0'] [role=option]")
    assert option.text_content() == (
        "person 1 walks, 0:01.2-0:02.4, confidence 0.30, left out: confidence 0.30 is under 0.60"
    )
    page.keyboard.press("Enter")
    assert state(page)["time"] == pytest.approx(1.2)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert state(page)["chosen"] == "jump"
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert state(page)["time"] == 0
    page.keyboard.press(" ")
    wait(page, "!player.paused")
    page.keyboard.press("k")
    wait(page, "player.paused")


def test_the_slider_hides_what_is_less_sure_in_its_lane_only(opened: Callable[..., Any]) -> None:
    page = opened()
    slider = page.locator(".lane[data-lane='0'] input[type=range]")
    slider.fill("50")
    drawn = {id: page.evaluate(f"cuelight.isDrawn('{id}')") for id in ("wave", "walk", "jump")}
    assert drawn == {"wave": True, "walk": False, "jump": True}
    assert page.locator(".lane[data-lane='0'] .shown").text_content() == "1 of 2"
    slider.fill("75")
    assert page.evaluate("cuelight.isDrawn('wave')") is False, "by its calibrated probability, 70 %"


def test_the_slider_hides_the_boxes_of_its_texts_too(opened: Callable[..., Any]) -> None:
    page = opened()
    page.evaluate("cuelight.seek(0.6)")
    wait(page, "!player.seeking")
    assert ink(page, 240, 60)[:3] == [0xF0, 0xE4, 0x42]
    slider = page.locator(".lane.k-screen_text input[type=range]")
    slider.fill("96")
    assert ink(page, 240, 60)[3] == 0
    assert ink(page, 120, 100)[3] == 255, "the skeleton is of another lane"
    slider.fill("90")
    assert ink(page, 240, 60)[:3] == [0xF0, 0xE4, 0x42]


def test_a_text_without_a_break_makes_no_page_wider(browser: Any, tmp_path: Path) -> None:
    long = "a" * 1_000_000
    film(tmp_path / "film.mp4")
    whole = timeline(tmp_path / "film.mp4")
    told = cue("long", 0.4, 0.9, long, 0.9, top=[[long[:5000], 0.5]], more=long[:5000])
    track = CueTrack("k" * 300, "odd", Source("n" * 300), (told,), notes=(long[:5000],))
    whole = replace(whole, tracks=(*whole.tracks, track))
    prompt = fuse(whole, Question(long[:5000]), FusionOptions(thresholds={"odd": 1.0}))
    answer = Answer(long[:5000], "m" * 300, sees_video=False)
    question = Question(long[:5000], (long[:5000], "b"))
    page_file = tmp_path / "film.html"
    write_page(page_file, whole, question=question, prompt=prompt, answer=answer)
    page = browser.new_context(viewport={"width": 1366, "height": 900}).new_page()
    page.goto(page_file.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    click(page, "long")
    for tab in page.locator("[role=tab]").all():
        tab.click()
        wider = page.evaluate(
            "[...document.querySelectorAll('body, section, main, table, details, .lanes')]"
            ".map((each) => each.scrollWidth).reduce((one, other) => Math.max(one, other))"
        )
        assert wider <= 1366
    page.context.close()


def test_hovering_tells_all_that_is_known(opened: Callable[..., Any]) -> None:
    page = opened()
    page.mouse.move(*middle_of(page, "wave"))
    words = page.locator("#card").inner_text()
    for part in (
        "person 1 waves",
        "0:00.4-0:00.9",
        "0.90",
        "70 %",
        "clap 0.05",
        "action 1",
        "c0ffeec0ffee",
    ):
        assert part in words
    page.mouse.move(*middle_of(page, "walk"))
    assert "Left out: confidence 0.30 is under 0.60" in page.locator("#card").inner_text()


def test_lines_of_the_prompt_and_cues_find_each_other(opened: Callable[..., Any]) -> None:
    page = opened()
    page.mouse.move(*middle_of(page, "jump"))
    assert "jumps" in page.locator(".line.lit").inner_text()
    page.locator(".block:not([hidden]) .line.linked", has_text="waves").click()
    assert (state(page)["chosen"], state(page)["time"]) == ("wave", pytest.approx(0.4))
    assert page.locator(".block:not([hidden]) .line", has_text="walks").count() == 0
    page.locator("#choose-policy").select_option("loose")
    assert page.locator(".block:not([hidden]) .line", has_text="walks").count() == 1
    page.mouse.move(*middle_of(page, "walk"))
    assert "Left out" not in page.locator("#card").inner_text()


INK = """([x, y]) => {
  const overlay = document.getElementById("overlay");
  const unit = overlay.width / 320;
  return [...overlay.getContext("2d").getImageData(x * unit, y * unit, 1, 1).data];
}"""


def ink(page: Any, x: float, y: float) -> list[int]:
    """The overlay's colour at a point of the picture, which is 320 pixels wide."""
    found: list[int] = page.evaluate(INK, [x, y])
    return found


def test_skeletons_and_boxes_lie_where_they_were_seen(opened: Callable[..., Any]) -> None:
    page = opened()
    page.evaluate("cuelight.seek(0.6)")
    wait(page, "!player.seeking")
    # The shoulder-to-hip line of the joints 5 and 11 lies on y = 100, from x = 90 to 150.
    assert ink(page, 120, 100) == [0x56, 0xB4, 0xE9, 255]
    assert ink(page, 240, 60)[:3] == [0xF0, 0xE4, 0x42]
    assert ink(page, 240, 75)[3] == 0
    page.keyboard.press("s")
    assert ink(page, 120, 100)[3] == 0
    page.keyboard.press("t")
    assert ink(page, 240, 60)[3] == 0
    page.keyboard.press("s")
    page.evaluate("cuelight.seek(1.2)")
    wait(page, "!player.seeking")
    assert ink(page, 120, 100)[3] == 0, "person 1 was last seen at 0.8 s"


LANE_INK = """([lane, x, y]) => {
  const canvas = document.querySelectorAll(lane)[0];
  const scale = canvas.width / canvas.clientWidth;
  return [...canvas.getContext("2d").getImageData(x * scale, y * scale, 1, 1).data];
}"""


def test_a_cue_that_was_left_out_is_drawn_without_its_lanes_colour(
    opened: Callable[..., Any],
) -> None:
    page = opened()
    box = page.locator(".lane[data-lane='0'] canvas").bounding_box()

    def edge(id: str) -> list[int]:
        """Of the bar at the left end of a cue, which is as high as it."""
        place = page.evaluate(f"cuelight.placeOf('{id}')")
        at = [place["left"] - box["x"] + 1.5, place["top"] - box["y"] + place["height"] / 2]
        found: list[int] = page.evaluate(LANE_INK, [".lane[data-lane='0'] canvas", *at])
        return found

    action = [0x00, 0x72, 0xB2, 255]
    assert edge("wave") == action
    assert edge("walk") != action, "its confidence of 0.30 is under 0.60"
    page.locator("#tab-prompt").click()
    page.locator("#choose-policy").select_option("loose")
    page.wait_for_timeout(100)
    assert edge("walk") == action


def test_the_waveform_has_a_lane_where_its_track_is(
    opened: Callable[..., Any], tmp_path: Path
) -> None:
    """Silence for a second, then full scale: ink in the middle only, then from top to bottom."""
    assert opened().locator(".lane.wave").count() == 0
    found = timeline(tmp_path / "film.mp4")
    speech = CueTrack("speech", "speech", Source("speech"), (cue("s", 1, 2, "Hello!", 0.9),))
    peaks = np.zeros((100, 2), np.int8)
    peaks[50:] = -127, 127
    wave = {"rate": np.array([50.0]), "start": np.array([0.0]), "peaks": peaks}
    drawn = {f"speech/waveform/{name}": each for name, each in wave.items()}
    target = tmp_path / "sound.html"
    heard = replace(found, tracks=(*found.tracks, speech))
    write_page(target, heard, video=tmp_path / "film.mp4", extras=Extras(traces=drawn))
    page = opened.visit(target.as_uri())  # type: ignore[attr-defined]
    lanes = page.locator(".lane .label b").all_inner_texts()
    assert lanes[-2:] == ["waveform", "speech"]
    width = page.locator(".lane.wave canvas").bounding_box()["width"]
    extent_s = state(page)["shown"]["to"]

    def drawn_at(time_s: float, y: float) -> bool:
        x = time_s / extent_s * width
        return bool(page.evaluate(LANE_INK, [".lane.wave canvas", x, y])[3])

    assert [drawn_at(0.5, y) for y in (3, 22, 41)] == [False, True, False]
    assert [drawn_at(1.5, y) for y in (3, 22, 41)] == [True, True, True]
    assert [drawn_at(2.5, y) for y in (3, 22, 41)] == [False, False, False]


def test_zoom_and_pan(opened: Callable[..., Any]) -> None:
    page = opened()
    extent_s = state(page)["shown"]["to"]
    for _ in range(2):
        page.locator("#zoom-in").click()
    shown = state(page)["shown"]
    assert shown["to"] - shown["from"] == pytest.approx(extent_s / 4)
    box = page.locator(".lane[data-lane='0'] canvas").bounding_box()
    page.mouse.move(box["x"] + 500, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 5, steps=4)
    page.mouse.up()
    moved = state(page)["shown"]["from"] - shown["from"]
    assert moved == pytest.approx(200 / box["width"] * extent_s / 4, rel=0.02)
    assert state(page)["time"] == 0, "a drag seeks nowhere"
    page.keyboard.press("0")
    assert state(page)["shown"] == {"from": 0, "to": extent_s}


def test_a_review_is_downloaded_and_read_again(opened: Callable[..., Any], tmp_path: Path) -> None:
    page = opened()
    click(page, "wave")
    page.keyboard.press("y")
    page.locator("#tab-cue").click()
    page.locator("#edit-start").fill("0.45")
    page.locator("#edit-start").blur()
    click(page, "jump")
    page.locator("#mark-wrong").click()
    page.locator("#edit-text").fill("person 2 hops")
    page.locator("#edit-end").fill("1.75")
    page.locator("#edit-end").blur()
    click(page, "sign")
    page.keyboard.press("w")
    with page.expect_download() as download:
        page.locator("#save").click()
    assert download.value.suggested_filename == "film.review.json"
    saved = tmp_path / "saved.review.json"
    download.value.save_as(saved)
    found = {id: each.document() for id, each in read(saved).cues.items()}
    of = {cue.id: cue for _, cue in timeline(tmp_path / "film.mp4").cues()}
    made = {
        id: {"text": of[id].text, "start_s": of[id].span.start_s, "end_s": of[id].span.end_s}
        for id in found
    }
    assert found == {
        "wave": {"verdict": "right", "start_s": 0.45, "of": made["wave"]},
        "jump": {"verdict": "wrong", "text": "person 2 hops", "end_s": 1.75, "of": made["jump"]},
        "sign": {"watermark": True, "of": made["sign"]},
    }
    again = opened(review=read(saved))
    click(again, "jump")
    assert again.locator("#chosen .title").text_content() == "person 2 hops"
    again.locator("#tab-cue").click()
    again.locator("#undo").click()
    assert again.locator("#chosen .title").text_content() == "person 2 jumps"


def test_corrections_of_cues_that_the_page_lacks_are_kept(
    opened: Callable[..., Any], tmp_path: Path
) -> None:
    noted = Correction("wrong", others={"note": "too early"})
    page = opened(review=Review(cues={"gone": noted, "__proto__": Correction("right")}))
    click(page, "wave")
    page.keyboard.press("y")
    page.locator("#tab-cue").click()
    with page.expect_download() as download:
        page.locator("#save").click()
    download.value.save_as(tmp_path / "saved.review.json")
    found = {id: each.document() for id, each in read(tmp_path / "saved.review.json").cues.items()}
    right = {"verdict": "right"}
    assert found.pop("wave")["verdict"] == "right"
    assert found == {"gone": noted.document(), "__proto__": right}


def test_a_correction_of_another_cue_of_the_id_is_told_and_kept_and_not_applied(
    opened: Callable[..., Any], tmp_path: Path
) -> None:
    other = Correction("wrong", text="person 1 claps", of=Of("person 1 sits", 7.0, 8.0))
    page = opened(review=Review(cues={"wave": other, "jump": other}))
    click(page, "wave")
    assert page.locator("#chosen .title").text_content() == "person 1 waves"
    page.locator("#tab-cue").click()
    assert page.locator("#saved").inner_text() == (
        "No cues are corrected. 2 corrections are of cues that are no longer there, or not on this "
        "page, and kept in the file."
    )
    page.keyboard.press("y")
    with page.expect_download() as download:
        page.locator("#save").click()
    saved = tmp_path / "saved.review.json"
    download.value.save_as(saved)
    wave, jump = (read(saved).cues[id] for id in ("wave", "jump"))
    assert (wave.verdict, wave.earlier, jump) == ("right", (other,), other)
    assert wave.of is not None
    assert wave.of.text == "person 1 waves"
    again = opened(review=read(saved))
    click(again, "wave")
    again.locator("#tab-cue").click()
    assert again.locator("#mark-right").get_attribute("aria-pressed") == "true"
    assert page.faults == again.faults == []


def test_rows_follow_ends_that_a_person_moved(opened: Callable[..., Any], tmp_path: Path) -> None:
    def top(id: str) -> float:
        found: float = page.evaluate(f"cuelight.placeOf('{id}').top")
        return found

    page = opened()
    assert top("wave") == top("walk")
    click(page, "wave")
    page.locator("#tab-cue").click()
    page.locator("#edit-end").fill("1.5")
    page.locator("#edit-end").blur()
    assert top("walk") == top("wave") + 24, "they overlap now, from 1.2 to 1.5 s"
    click(page, "walk")
    assert state(page)["chosen"] == "walk"
    click(page, "wave")
    assert state(page)["chosen"] == "wave"
    place = page.evaluate("cuelight.placeOf('wave')")
    axis = page.locator("#axis").bounding_box()
    extent_s = state(page)["shown"]["to"]
    end_x = axis["x"] + 1.5 / extent_s * axis["width"]
    assert place["left"] + place["width"] == pytest.approx(end_x, abs=1)
    with page.expect_download() as download:
        page.locator("#save").click()
    download.value.save_as(tmp_path / "saved.review.json")
    page.locator("#undo").click()
    assert top("wave") == top("walk")
    page = opened(review=read(tmp_path / "saved.review.json"))
    assert top("walk") == top("wave") + 24
    assert page.faults == []


def test_an_end_before_the_start_is_refused(opened: Callable[..., Any]) -> None:
    page = opened()
    click(page, "jump")
    page.locator("#tab-cue").click()
    page.locator("#edit-end").fill("0.5")
    page.locator("#edit-end").blur()
    assert page.locator("#edit-fault").inner_text() == "A cue ends no earlier than it starts."
    assert page.locator("#save").is_disabled()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[PageServer]:
    path = tmp_path / "film.mp4"
    film(path, 2.5)
    review = tmp_path / "film.review.json"
    server = page_server(timeline(path), path, Extras(traces=traces()), review, "film")
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_a_served_page_plays_and_saves_to_disk(
    opened: Callable[..., Any], served: PageServer, tmp_path: Path
) -> None:
    review = tmp_path / "film.review.json"
    page = opened.visit(served.url)  # type: ignore[attr-defined]
    page.evaluate("cuelight.seek(1.22)")
    wait(page, "!player.seeking")
    assert shows(page, 25)
    click(page, "wave")
    page.keyboard.press("n")
    page.locator("#save").click()
    wait(page, "document.getElementById('saved').textContent.includes('Saved as')")
    assert {id: each.verdict for id, each in read(review).cues.items()} == {"wave": "wrong"}
    page.reload()
    click(page, "wave")
    assert page.locator("#mark-wrong").get_attribute("aria-pressed") == "true"
    assert page.faults == []


def test_a_review_that_the_server_refuses_is_told_and_can_be_saved_later(
    opened: Callable[..., Any], served: PageServer, tmp_path: Path
) -> None:
    page = opened.visit(served.url)  # type: ignore[attr-defined]
    click(page, "wave")
    page.keyboard.press("n")

    def spoil(route: Any) -> None:
        route.continue_(post_data=route.request.post_data.replace('"wrong"', '"maybe"'))

    page.route("**/review", spoil)
    page.locator("#save").click()
    wait(page, "document.getElementById('saved').textContent.includes('Not saved')")
    said = page.locator("#saved").inner_text()
    assert "cues.wave.verdict is 'maybe'; available: right, wrong" in said
    assert not (tmp_path / "film.review.json").exists()
    assert page.locator("#mark-wrong").get_attribute("aria-pressed") == "true"
    page.unroute("**/review")
    page.locator("#save").click()
    wait(page, "document.getElementById('saved').textContent.includes('Saved as')")
    found = read(tmp_path / "film.review.json")
    assert {id: each.verdict for id, each in found.cues.items()} == {"wave": "wrong"}


def test_of_two_open_pages_neither_overwrites_what_the_other_saved(
    opened: Callable[..., Any], served: PageServer, tmp_path: Path
) -> None:
    saved = "document.getElementById('saved').textContent.includes('Saved as')"
    pages = [opened.visit(served.url) for _ in range(2)]  # type: ignore[attr-defined]
    for page, id in zip(pages, ("wave", "jump"), strict=True):
        click(page, id)
        page.keyboard.press("n")
    pages[0].locator("#save").click()
    wait(pages[0], saved)
    pages[1].locator("#save").click()
    wait(pages[1], "document.getElementById('saved').textContent.includes('Not saved')")
    said = pages[1].locator("#saved").inner_text()
    assert "changed by another page or program" in said
    assert "Save again to download yours" in said
    assert set(read(tmp_path / "film.review.json").cues) == {"wave"}
    with pages[1].expect_download() as download:
        pages[1].locator("#save").click()
    download.value.save_as(tmp_path / "mine.review.json")
    assert set(read(tmp_path / "mine.review.json").cues) == {"jump"}
    pages[0].keyboard.press("y")
    wait(pages[0], "!document.getElementById('save').disabled")
    pages[0].locator("#save").click()
    wait(pages[0], saved)
    found = read(tmp_path / "film.review.json").cues
    assert {id: each.verdict for id, each in found.items()} == {"wave": "right"}


def test_a_study_is_beside_the_timeline(opened: Callable[..., Any]) -> None:
    page = opened(study=study())
    questions = page.locator("#study-questions li button:visible")
    assert questions.count() == 3
    questions.nth(0).click()
    assert state(page)["time"] == pytest.approx(1.2)
    words = page.locator("#study-answers").inner_text()
    for part in (
        "Reference: He waves.",
        "no cues",
        "✗ wrong",
        "all cues",
        "✓ right",
        "because of it",
    ):
        assert part in words
    page.locator("#study-flipped").check()
    assert questions.all_inner_texts() == ["Does he wave? Temporal · ✗ ✓"]
    page.locator("#study-flipped").uncheck()
    page.locator("#study-wrong").check()
    assert questions.count() == 2
    page.locator("#study-category").select_option("Intention")
    assert questions.count() == 1
    assert EVIL in questions.nth(0).inner_text()


def test_nothing_that_the_video_says_runs_and_nothing_is_fetched(
    browser: Any, opened: Callable[..., Any], tmp_path: Path
) -> None:
    opened(study=study())
    context = browser.new_context()
    page, asked = context.new_page(), []

    def hold(route: Any) -> None:
        asked.append(route.request.url)
        if route.request.url.endswith("/film.html"):
            route.continue_()
        else:
            route.abort()

    context.route("**/*", hold)
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "film.html").as_uri())
    page.wait_for_timeout(300)
    click(page, "sign")
    page.mouse.move(*middle_of(page, "sign"))
    page.locator("#tab-cue").click()
    page.locator("#edit-text").fill(EVIL + "!")
    page.locator("#edit-text").blur()
    page.locator("#tab-study").click()
    page.locator("#study-questions button").nth(2).click()
    page.locator("summary", has_text="All cues").click()
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    assert EVIL + "!" in page.locator("#chosen").inner_text()
    names = {url.rpartition("/")[2] for url in asked if not url.startswith(("data:", "blob:"))}
    assert names <= {"film.html", "film.mp4"}
    assert page.locator("#unplayable").is_visible()
    context.close()


def test_an_embedded_film_needs_no_other_file(opened: Callable[..., Any], tmp_path: Path) -> None:
    film(tmp_path / "other.mp4")
    content = (tmp_path / "other.mp4").read_bytes()
    page = opened(2.5, embedded=("video/mp4", content), player_start_s=0.0)
    (tmp_path / "film.mp4").unlink()
    page.reload()
    wait(page, "player.readyState >= 2")
    page.evaluate("cuelight.seek(1.3)")
    wait(page, "!player.seeking")
    assert shows(page, 26)


def test_a_printed_page_has_the_lanes_in_ink_on_white(opened: Callable[..., Any]) -> None:
    page = opened()
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(100)
    assert len(page.pdf(format="A4", print_background=True)) > 5_000
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".player").is_hidden()
    assert page.locator(".block pre").first.is_visible()
