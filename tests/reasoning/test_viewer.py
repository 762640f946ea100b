"""The page and the terminal drawing, through their public doors."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from fusion.fuse import fuse
from fusion.question import Question
from fusion.selection import CuePrompt, Selection
from perception.cue import Cue, CueTimeline, CueTrack, Source, Span, Status, VideoInfo
from reasoning.answer import Answer, Failure, FailureKind, OptionScore
from reasoning.ask import Asked
from reasoning.cli import main
from reasoning.videollm import Request
from reasoning.viewer.extras import Extras
from reasoning.viewer.given import Block
from reasoning.viewer.lanes import alternatives, extent_s, lanes, ticks
from reasoning.viewer.page import page, video_url, write_page
from reasoning.viewer.terminal import drawing
from tests.reasoning.page_data import unpacked

EVIL = '</script><script>alert("x")</script><img src=x onerror=alert(1)> \u202e\x1b[31m'
SHOWN = '</script><script>alert("x")</script><img src=x onerror=alert(1)> [31m'


def action(
    number: int, start_s: float, end_s: float, words: str, confidence: float, person: int
) -> Cue:
    text = f"person {person}, upper left, {words}"
    attributes = {"person": person, "where": "upper left", "top": [["wave", 0.9], ["clap", 0.05]]}
    return Cue(f"action-{number}", Span(start_s, end_s), text, confidence, attributes)


TIMELINE = CueTimeline(
    VideoInfo("my clip #1.mp4", "ab" * 32, 2.5, 8.0, 640, 360, 25.0),
    (
        CueTrack(
            "action",
            "action",
            Source("action", "1", "c0ffee" * 10 + "0000+" + "beef" * 16, {"window_s": 2.0}),
            (
                action(1, 0.5, 2.5, "waves", 0.96, 1),
                action(2, 2, 4, "walks", 0.41, 10),
                action(3, 2, 3, "jumps", 0.7, 1),
            ),
        ),
        CueTrack(
            "screen_text",
            "screen_text",
            Source("screen_text"),
            (Cue("screen_text-1", Span(1, 4), EVIL, 0.9),),
            status=Status.PARTIAL,
            notes=("The file breaks off at 0:06.2.",),
        ),
        CueTrack(
            "speech", "speech", Source("speech"), status=Status.NO_SIGNAL, notes=("Silence.",)
        ),
        CueTrack("voice", "voice", Source("voice"), status=Status.FAILED, notes=("It broke.",)),
    ),
)
QUESTION = Question("What does <he> do?", ("Waves", "Sings"))
PROMPT = fuse(TIMELINE, QUESTION)
ANSWER = Answer(
    "Waves",
    "small model",
    sees_video=False,
    option=0,
    option_scores=(OptionScore("Waves", -1, 0, 1, 0.75), OptionScore("Sings", -2, 0, 1, 0.25)),
)


class Parsed(HTMLParser):
    """Every element with its attributes and the text inside of it."""

    VOID = frozenset({"meta", "link", "img", "input"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self._open: list[int] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))
        if tag not in self.VOID:
            self._open.append(len(self.elements) - 1)

    def handle_endtag(self, tag: str) -> None:
        assert self.elements[self._open.pop()][0] == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        for index in self._open:
            self.elements[index][2].append(data)

    def all(self, tag: str, **wanted: str) -> list[tuple[dict[str, str | None], str]]:
        return [
            (attributes, " ".join("".join(text).split()))
            for name, attributes, text in self.elements
            if name == tag
            and all(value in (attributes.get(key) or "").split() for key, value in wanted.items())
        ]

    def data(self) -> dict[str, Any]:
        ((_, text),) = self.all("script", type="application/json")
        return unpacked(json.loads(text))


def full(**changes: Any) -> Parsed:
    arguments: dict[str, Any] = {"question": QUESTION, "prompt": PROMPT, "answer": ANSWER}
    return Parsed(page(TIMELINE, **(arguments | changes)))


def states(parsed: Parsed) -> dict[str, list[str]]:
    """By cue id: what became of it in the first block, and why."""
    found: dict[str, list[str]] = parsed.data()["blocks"][0]
    return found


def test_a_lane_for_each_person_and_each_track() -> None:
    assert [(lane.label, lane.person) for lane in lanes(TIMELINE)] == [
        ("action, person 1", "1"),
        ("action, person 10", "10"),
        ("screen text", None),
        ("speech", None),
        ("voice", None),
    ]


def test_people_are_in_order_of_number_not_of_letters() -> None:
    cues = tuple(action(n, n, n + 1, "waves", 0.9, n) for n in (10, 2, 1))
    track = replace(TIMELINE.tracks[0], cues=cues)
    found = lanes(replace(TIMELINE, tracks=(track,)))
    assert [lane.person for lane in found] == ["1", "2", "10"]


def test_overlapping_cues_get_rows_of_their_own() -> None:
    first = lanes(TIMELINE)[0]
    assert [[cue.id for cue in row] for row in first.rows] == [["action-1"], ["action-3"]]


def test_the_first_row_that_is_free_is_used_again() -> None:
    times = [(0, 9), (0, 1), (0, 2), (2, 3), (2.5, 4), (3, 5)]
    cues = tuple(Cue(str(n), Span(*span), "x", 1) for n, span in enumerate(times))
    (lane,) = lanes(CueTimeline(TIMELINE.video, (CueTrack("t", "t", Source("s"), cues),)))
    starts = [[(cue.span.start_s, cue.span.end_s) for cue in row] for row in lane.rows]
    assert starts == [[(0, 1), (2, 3), (3, 5)], [(0, 2), (2.5, 4)], [(0, 9)]]


@pytest.mark.parametrize(
    ("extent", "at_most", "times"),
    [
        (8.0, 11, tuple(map(float, range(9)))),
        (8.0, 4, (0.0, 5.0)),
        (0.35, 11, (0.0, 0.1, 0.2, 0.3)),
        (100_000.0, 5, (0.0, 25200.0, 50400.0, 75600.0)),
    ],
)
def test_ticks(extent: float, at_most: int, times: tuple[float, ...]) -> None:
    assert ticks(extent, at_most) == times


def test_the_axis_reaches_the_last_cue_and_is_never_empty() -> None:
    assert extent_s(TIMELINE) == 8.0
    short = replace(TIMELINE, video=replace(TIMELINE.video, duration_s=3.0))
    assert extent_s(short) == 4.0
    assert extent_s(CueTimeline(replace(TIMELINE.video, duration_s=0.0))) == 1.0


@pytest.mark.parametrize(
    ("attributes", "found"),
    [
        ({"top": [["clap", 0.1], ["wave", 0.9]]}, (("wave", 0.9), ("clap", 0.1))),
        ({"top5": [{"label": "wave", "probability": 0.9}]}, (("wave", 0.9),)),
        ({"top": ["wave", ["clap"], ["jump", "much"], None]}, ()),
        ({"top": "wave"}, ()),
        ({"label": "wave", "top": [["wave", 0.9], ["clap", 0.1]]}, (("clap", 0.1),)),
        ({"top": [["clap", 0.005], ["jump", 0.0049], ["sit", 0]]}, (("clap", 0.005),)),
        ({"top": [["wave", 1.5], ["clap", -1], ["jump", 10**400], ["sit", True]]}, ()),
        ({}, ()),
    ],
)
def test_alternatives(attributes: dict[str, Any], found: tuple[tuple[str, float], ...]) -> None:
    assert alternatives(attributes) == found


def test_the_script_gets_times_and_the_start_of_the_players_clock() -> None:
    data = full(video="./a.mp4").data()
    wave = data["cues"][0]
    assert (data["start_s"], data["extent_s"], data["video"]) == (2.5, 8.0, True)
    assert (wave["start_s"], wave["end_s"]) == (0.5, 2.5)
    assert wave["others"] == [["wave", 0.9], ["clap", 0.05]]
    assert data["lanes"][wave["lane"]]["details"] == [
        ["recognizer", "action 1"],
        ["checkpoint", "c0ffeec0ffee + beefbeefbeef"],
    ]
    assert (wave["confidence"], wave["calibrated"]) == (0.96, None)


def test_what_the_video_says_stays_text() -> None:
    html = page(TIMELINE, question=QUESTION, prompt=PROMPT, answer=ANSWER)
    parsed = Parsed(html)
    assert len(parsed.all("script")) == 2
    assert parsed.all("img") == []
    assert "\u202e" not in html
    assert "\x1b" not in html
    assert SHOWN in parsed.data()["cues"][3]["text"]
    assert SHOWN in [text for _, text in parsed.all("bdi")]


def test_no_script_but_the_pages_own_may_run_and_nothing_is_fetched() -> None:
    parsed = full()
    ((policy, _),) = [m for m in parsed.all("meta") if "http-equiv" in m[0]]
    html = page(TIMELINE, question=QUESTION, prompt=PROMPT, answer=ANSWER)
    script = html.rpartition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in (policy["content"] or "")
    assert (policy["content"] or "").startswith("default-src 'none';")
    for name in ("src", "href"):
        assert [a[name] for _, a, _ in parsed.elements if name in a] in ([], ["data:,"])


def test_tracks_say_how_far_they_got() -> None:
    parsed = full()
    groups = [a["aria-label"] for a, _ in parsed.all("div", role="group")]
    assert "screen text, 1 cue, partial" in groups
    assert "speech, 0 cues, no signal" in groups
    assert "voice, 0 cues, failed" in groups
    lanes = [text for _, text in parsed.all("div", **{"class": "lane"})]
    for note in ("The file breaks off at 0:06.2.", "Silence.", "It broke."):
        assert any(note in text for text in lanes)


def test_dropped_cues_are_greyed_and_say_why() -> None:
    parsed = full()
    assert states(parsed)["action-2"] == ["dropped", "confidence 0.41 is under 0.60"]
    assert states(parsed)["action-1"] == ["kept", "in the prompt"]
    ((_, left_out),) = parsed.all("section", **{"class": "dropped"})
    assert "person 10, upper left, walks0.41confidence 0.41 is under 0.60" in left_out


def test_the_prompt_is_there_to_the_letter_and_linked() -> None:
    parsed = full()
    block = "".join(next(t for tag, a, t in parsed.elements if a.get("id") == "prompt"))
    assert block == PROMPT.text
    cues = parsed.data()["cues"]
    linked = {
        text: [cues[int(number)]["id"] for number in (a["data-cues"] or "").split()]
        for a, text in parsed.all("span", **{"class": "linked"})
    }
    lines = PROMPT.text.split("\n")
    assert linked == {lines[number]: [id] for number, id in PROMPT.lines}


def answer_panel(**changes: Any) -> str:
    ((_, panel),) = full(**changes).all("section", **{"class": "answer"})
    return panel


def scored(*ids: str) -> Answer:
    """An answer by a model that says it read the lines of these cues only."""
    block = PROMPT.text.split("\n")
    read = [block[line] for line, id in PROMPT.lines if id in ids]
    return replace(ANSWER, request={"scored_prompt": "\n".join(["Answer!", *read, "Question: ?"])})


def chips(parsed: Parsed) -> list[str]:
    return [text for _, text in parsed.all("button", **{"class": "chip"})]


def test_the_answer_and_what_the_model_was_given() -> None:
    panel = answer_panel()
    assert "What does <he> do?" in panel
    assert "Waves ✓ 75 % Sings 25 %" in panel
    assert "was given the cues below and did not see the picture" in panel
    assert "What the model was given The model was given 3 cues; 1 left out." in panel
    assert "0:00.5-0:02.5 person 1, upper left, waves" in panel
    assert "read" not in panel


def test_a_model_that_tells_what_it_read_is_believed_to_have_read_no_more() -> None:
    parsed = full(answer=scored("action-1"))
    ((_, panel),) = parsed.all("section", **{"class": "answer"})
    read, unread = panel.split("In the prompt, but not read for this answer")
    assert "It read the cues below and did not see the picture." in read
    assert "What the model read The model read 1 of the 3 cues in the prompt; 1 left out." in read
    assert "person 1, upper left, waves" in read
    assert "person 1, upper left, jumps" in unread
    assert "waves" not in unread
    ((_, sign), (_, jumps)) = parsed.all("span", **{"class": "unread"})
    assert "jumps" in jumps
    assert "screen text" in sign


@pytest.mark.parametrize("ids", [(), ("action-3",), ("action-1", "screen_text-1")])
def test_the_page_and_the_answer_agree_on_the_cues_that_were_read(ids: tuple[str, ...]) -> None:
    answer = scored(*ids)
    became = states(full(answer=answer))
    rests_on = Asked(QUESTION, PROMPT, Request(()), answer).rests_on
    assert {id for id, state in became.items() if state[0] == "kept"} == {
        item.cue.id for item in rests_on
    }
    assert {item.cue.id for item in rests_on} == set(ids)


def test_a_model_that_sees_the_video_is_not_called_blind() -> None:
    for prompt in (PROMPT, CuePrompt("", Selection()), None):
        panel = answer_panel(answer=replace(ANSWER, sees_video=True), prompt=prompt)
        assert "did not see the picture" not in panel
        assert "guess" not in panel


def test_an_answer_without_picture_and_cues_is_called_a_guess() -> None:
    guess = "This is the model's guess. It rests on nothing that was seen or heard"
    panel = answer_panel(prompt=CuePrompt("", Selection()))
    assert guess in panel
    assert "The model was given no cues." in panel
    assert "What it rests on" not in panel
    dropped = answer_panel(prompt=CuePrompt("", Selection((), PROMPT.selection.dropped)))
    assert guess in dropped
    assert "No cue was good enough: the model was given none." in dropped
    assert guess in answer_panel(answer=scored())
    assert guess not in answer_panel()


def test_what_the_model_was_given_is_not_made_up_where_the_page_does_not_know() -> None:
    panel = answer_panel(prompt=None)
    assert "It did not see the picture." in panel
    assert "cue" not in panel


def test_a_failure_tells_what_the_prompt_held_not_what_was_read() -> None:
    failure = Failure(FailureKind.UNAVAILABLE, "No server.", "m", request=scored().request)
    panel = answer_panel(answer=failure)
    assert "The prompt held 3 cues; 1 left out." in panel
    assert "read" not in panel


def test_a_long_list_of_cues_beside_the_answer_is_folded_not_cut() -> None:
    cues = tuple(Cue(f"s{n}", Span(n, n + 1), f"word {n}", 0.9) for n in range(15))
    track = CueTrack("speech", "speech", Source("speech"), cues)
    timeline = replace(TIMELINE, video=replace(TIMELINE.video, duration_s=20.0), tracks=(track,))
    prompt = fuse(timeline, QUESTION)
    parsed = Parsed(page(timeline, question=QUESTION, prompt=prompt, answer=ANSWER))
    ((_, folded),) = parsed.all("details", **{"class": "more"})
    assert folded.startswith("3 more 0:12.0-0:13.0 word 12")
    assert [text.split(" ", 1)[1] for text in chips(parsed)] == [f"word {n}" for n in range(15)]
    assert full().all("details", **{"class": "more"}) == []


def test_settings_are_lines_and_checksums_are_short() -> None:
    settings = {
        "mirror": False,
        "language": "",
        "limit": None,
        "tracker": {"max_gap_s": 1.0, "<b>": {"on": True, "none": {}}},
        "labels": ["wave", "clap"],
        "weights": "12" * 32,
    }
    source = Source("action", "1", "c0ffee" * 10 + "0000+" + "beef" * 16, settings)
    track = replace(TIMELINE.tracks[0], source=source)
    parsed = Parsed(page(replace(TIMELINE, tracks=(track,))))
    ((_, lines),) = parsed.all("ul", **{"class": "settings"})
    assert lines == (
        "mirror: false language: (empty) limit: none tracker.max_gap_s: 1.0 "
        "tracker.<b>.on: true tracker.<b>.none: (empty) labels: wave, clap weights: 121212121212"
    )
    assert [(a["title"], text) for a, text in parsed.all("code")] == [
        ("c0ffee" * 10 + "0000", "c0ffeec0ffee"),
        ("beef" * 16, "beefbeefbeef"),
        ("12" * 32, "121212121212"),
    ]


@pytest.mark.parametrize(
    ("span", "words"),
    [(Span(1, 4.5), "About 0:01.0-0:04.5"), (Span(1, 1e9), "About 0:01.0 to the end")],
)
def test_the_part_that_is_asked_about(span: Span, words: str) -> None:
    question = replace(QUESTION, span=span)
    ((_, panel),) = full(question=question).all("section", **{"class": "answer"})
    assert words in panel


def test_a_failure_is_no_answer() -> None:
    failure = Failure(FailureKind.UNPARSED, "It names both.", "small model", raw="</pre><b>A or B")
    ((_, panel),) = full(answer=failure).all("section", **{"class": "answer"})
    assert "No answer It names both. small model · unparsed" in panel
    assert "</pre><b>A or B" in panel
    assert "Waves ✓" not in panel


@pytest.mark.parametrize(
    ("answer", "headed"),
    [
        (ANSWER, "What the model was told about the video"),
        (None, "What a model would be told about the video"),
        (Failure(FailureKind.TOO_LONG, "too long", "small model"), "What the prompt held"),
    ],
)
def test_a_block_is_headed_as_told_only_where_a_model_was_asked_with_it(
    answer: Answer | Failure | None, headed: str
) -> None:
    other = fuse(TIMELINE, Question("Why?"))
    parsed = full(answer=answer, extras=Extras(blocks=(Block(other, "Why?"),)))
    would = "What a model would be told about the video"
    headings = [text for _, text in parsed.all("h2") if text in {headed, would}]
    assert headings == [headed, would]


def test_a_timeline_alone_has_neither_answer_nor_prompt() -> None:
    parsed = full(question=None, prompt=None, answer=None)
    for name in ("answer", "prompt", "dropped", "study"):
        assert parsed.all("section", **{"class": name}) == []
    assert len(parsed.data()["cues"]) == 4


def test_sound_alone_gets_an_audio_player() -> None:
    deaf = replace(TIMELINE, video=replace(TIMELINE.video, has_video=False, width=0, height=0))
    parsed = Parsed(page(deaf, video="./a.mp3"))
    assert [a["src"] for a, _ in parsed.all("audio")] == ["./a.mp3"]
    assert parsed.all("video") == []


def test_of_very_many_cues_the_page_holds_all_and_its_table_the_first() -> None:
    cues = tuple(Cue(f"s-{n}", Span(n, n + 0.5), "a text", 0.5) for n in range(2500))
    many = CueTimeline(TIMELINE.video, (CueTrack("speech", "speech", Source("s"), cues),))
    html = page(many)
    parsed = Parsed(html)
    assert len(parsed.all("button", **{"class": "go"})) == 2000
    assert any(
        text == "and 500 more, which the timeline shows and the .cues.json holds."
        for _, text in parsed.all("p")
    )
    assert [cue["id"] for cue in parsed.data()["cues"]] == [cue.id for cue in cues]
    few = CueTimeline(TIMELINE.video, (CueTrack("speech", "speech", Source("s"), cues[:2000]),))
    assert (len(html) - len(page(few))) / 500 < 60, "characters of each cue that is in no table"


def test_the_same_arguments_give_the_same_page() -> None:
    assert page(TIMELINE, prompt=PROMPT) == page(TIMELINE, prompt=PROMPT)


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("clip.mp4", "./clip.mp4"),
        ("-my clip #1?.mp4", "./-my%20clip%20%231%3F.mp4"),
        ("🎭 100%.mp4", "./%F0%9F%8E%AD%20100%25.mp4"),
        ("javascript:alert(1).mp4", "./javascript%3Aalert%281%29.mp4"),
        ("sub/a b.mp4", "./sub/a%20b.mp4"),
        ("../a.mp4", "./../a.mp4"),
    ],
)
def test_video_urls(tmp_path: Path, name: str, url: str) -> None:
    assert video_url(tmp_path / name, tmp_path) == url


def test_the_written_page_links_the_video(tmp_path: Path) -> None:
    target = tmp_path / "out" / "clip.html"
    write_page(target, TIMELINE, video=tmp_path / "my clip #1.mp4")
    ((player, _),) = Parsed(target.read_text(encoding="utf-8")).all("video")
    assert player["src"] == "./../my%20clip%20%231.mp4"


def drawn(width: int = 60, **arguments: Any) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(drawing(TIMELINE, **arguments))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_lanes_in_the_terminal() -> None:
    # 60 columns less the longest label and a space leave 42 for 8 s: 5.25 columns a second.
    lines = drawn()
    label = " " * len("action, person 10 ")
    assert lines[0] == label + "╷0:00" + " " * 21 + "╷0:05"
    assert lines[1] == "action, person 1  " + "  ▌waves─────"
    assert lines[2] == label + " " * 10 + "▌jum…"
    assert lines[3] == "action, person 10 " + " " * 10 + "▌walks─────"
    assert lines[4].startswith("screen text       " + " " * 5 + "▌</script>")
    assert lines[5:8] == [
        label + "partial: The file breaks off at 0:06.2.",
        "speech            no signal: Silence.",
        "voice             failed: It broke.",
    ]


def test_the_terminal_lists_every_cue_and_no_escape_code() -> None:
    text = "\n".join(drawn(140, prompt=PROMPT))
    assert "\x1b" not in text
    assert SHOWN in text
    assert "confidence 0.41 is under 0.60" in text
    assert "▌walks" in "\n".join(drawn())
    (walks,) = [line for line in drawn(140) if "0:02.0-0:04.0" in line]
    assert walks.split()[-1] == "0.41"
    assert "%" not in "\n".join(drawn(140)), "nobody compared these scores with the truth"
    assert "╎walks╌" in text


def test_the_terminal_tells_the_probability_where_the_scores_are_calibrated() -> None:
    told = drawn(140, calibrated={"action-2": 0.335})
    (heading,) = [line for line in told if line.startswith("time")]
    assert heading.split() == ["time", "kind", "cue", "score", "probability"]
    (walks,) = [line for line in told if "0:02.0-0:04.0" in line]
    assert walks.split()[-3:] == ["0.41", "34", "%"]


def test_a_terminal_is_not_flooded_by_one_text() -> None:
    cue = Cue("a", Span(0, 1), "long " * 1_000_000, 0.9)
    track = CueTrack("speech", "speech", Source("s"), (cue,))
    out = io.StringIO()
    Console(file=out, width=80).print(drawing(CueTimeline(TIMELINE.video, (track,))))
    assert len(out.getvalue()) < 5_000
    assert "…" in out.getvalue()


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["inspect", *arguments])
    return int(end.value.code or 0)


FILM = b"as good as a film"


@pytest.fixture
def cues(tmp_path: Path) -> Path:
    path = tmp_path / "clip.cues.json"
    video = replace(TIMELINE.video, sha256=hashlib.sha256(FILM).hexdigest())
    path.write_text(replace(TIMELINE, video=video).to_json(), encoding="utf-8")
    return path


def test_inspect_writes_a_page_and_finds_the_video_beside_the_cues(
    cues: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "pages"
    written = out / "clip.html"
    assert run(str(cues), "--out", str(out), "--no-open") == 0
    assert Parsed(written.read_text(encoding="utf-8")).all("video") == []
    said = capsys.readouterr()
    assert said.out == f"Wrote {written} (0.1 MB)\n"
    told = "without its video: no file 'my clip #1.mp4' with the sha256 that the cues tell lies"
    assert f"{told} beside {str(cues)!r}" in said.err
    (tmp_path / TIMELINE.video.name).write_bytes(FILM)
    assert run(str(cues), "--out", str(out), "--no-open") == 0
    assert "without its video" not in capsys.readouterr().err
    ((player, _),) = Parsed((out / "clip.html").read_text(encoding="utf-8")).all("video")
    assert player["src"] == "./../my%20clip%20%231.mp4"
    assert run(str(cues), "--out", str(out), "--quiet") == 0
    assert capsys.readouterr().out == f"{written}\n"


def test_a_page_that_browsers_open_slowly_is_told_of(
    cues: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(str(cues), "--no-open") == 0
    assert "take long to open" not in capsys.readouterr().err
    monkeypatch.setattr("reasoning.cli._presenting.MAX_EASY_BYTES", 60_000)
    assert run(str(cues), "--no-open") == 0
    said = capsys.readouterr().err
    assert "The page has 0.1 MB for 4 cues, and browsers take long to open more than 0.1 MB" in said
    assert "--from and --to for a part of the time, --only for one kind of cue" in said
    assert "--embed-video" not in said
    (cues.parent / TIMELINE.video.name).write_bytes(FILM)
    assert run(str(cues), "--no-open", "--embed-video") == 0
    assert "leave out --embed-video" in capsys.readouterr().err


def test_json_tells_of_page_and_video(
    cues: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(str(cues), "--json", "--quiet") == 0
    told = json.loads(capsys.readouterr().out)
    size = (tmp_path / "clip.html").stat().st_size
    assert (told["page_bytes"], told["video_file"]) == (size, None)
    video = tmp_path / TIMELINE.video.name
    video.write_bytes(FILM)
    assert run(str(cues), "--json", "--quiet") == 0
    assert json.loads(capsys.readouterr().out)["video_file"] == str(video)


def test_a_video_that_is_not_there_cannot_be_embedded(
    cues: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(str(cues), "--embed-video", "--no-open") == 2
    assert repr(TIMELINE.video.name) in capsys.readouterr().err
    assert not (tmp_path / "clip.html").exists()


def test_inspect_text_writes_nothing(
    cues: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(str(cues), "--text", "--only", "speech", "--out", str(tmp_path / "none")) == 0
    shown = capsys.readouterr().out
    assert "no signal: Silence." in shown
    assert "waves" not in shown
    assert not (tmp_path / "none").exists()


def test_inspect_json(cues: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(cues), "--text", "--json", "--from", "2.6", "--to", "0:03.5") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["page"] is None
    found = {lane["label"]: [cue["id"] for cue in lane["cues"]] for lane in document["lanes"]}
    assert found["action, person 1"] == ["action-3"]
    assert found["action, person 10"] == ["action-2"]


@pytest.mark.parametrize("content", [None, "not JSON", '{"schema": "other"}'])
def test_inspect_of_what_is_no_timeline(
    tmp_path: Path, content: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.cues.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    assert run(str(path), "--out", str(tmp_path / "out")) == 2
    assert capsys.readouterr().err.startswith("Error: ")
    assert not (tmp_path / "out").exists()


def test_inspect_of_a_track_that_is_not_there(
    cues: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(str(cues), "--only", "speach") == 2
    assert "Did you mean 'speech'?" in capsys.readouterr().err
