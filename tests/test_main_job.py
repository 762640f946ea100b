"""The main job on real input: the sample clip, seen and heard by the embedded models.

What happens in the clip, by watching it: on a flat roof a man does two jumping jacks (0.3-2.5 s),
stands, walks to the edge (3.3-4.4 s), swings his arms and leaps off (4.7-5.8 s); below, a woman
walks by (1.3-6.5 s).
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from fusion.fuse import fuse
from fusion.question import Question
from perception import sample, video
from perception.cache import TrackCache
from perception.cue import Cue, CueTimeline, Span, Status
from perception.perceive import Perception, perceive
from reasoning.viewer.words import score_words
from tests.perception import clips
from tests.reasoning import commands

pytestmark = pytest.mark.weights

BOTH_ARMS_OR_JUMP = ("jumping jack", "both hands", "both arms", "jump", "clap")
KEPT = 0.6
"""Fusion's threshold for actions, the paper's."""
SAYS_YES = ("--set", "videollms.scripted.default=Yes.")


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Perception:
    cache = TrackCache(tmp_path_factory.mktemp("cache"))
    return perceive(sample.compose(), cache=cache)


@pytest.fixture(scope="module")
def actions(seen: Perception) -> dict[int, list[Cue]]:
    """Cues that fusion would keep, by person, in order of time."""
    people = defaultdict(list)
    track = seen.timeline.track("action")
    assert track is not None
    for cue in track.cues:
        if cue.confidence >= KEPT:
            people[cue.attributes["person"]].append(cue)
    return people


def test_every_track_is_complete(seen: Perception) -> None:
    assert {track.id: track.status for track in seen.timeline.tracks} == dict.fromkeys(
        ("action", "screen_text", "speech"), Status.COMPLETE
    )


def test_two_people_act_and_the_cues_say_where(actions: dict[int, list[Cue]]) -> None:
    assert sorted(actions) == [1, 2]
    assert "upper" in actions[1][0].text
    assert "lower" in actions[2][0].text


def test_the_woman_walks_and_does_nothing_else(actions: dict[int, list[Cue]]) -> None:
    assert all("walks" in cue.text for cue in actions[2])
    walked = sum(cue.span.duration_s for cue in actions[2])
    assert walked == pytest.approx(6.5 - 1.3, abs=1.0)


def test_the_man_begins_with_both_arms_or_a_jump(actions: dict[int, list[Cue]]) -> None:
    first = actions[1][0]
    assert any(words in first.text for words in BOTH_ARMS_OR_JUMP)
    assert first.span.overlaps(Span(0.3, 2.5))


def test_a_jump_covers_the_leap(actions: dict[int, list[Cue]]) -> None:
    jumps = [cue for cue in actions[1] if "jumps" in cue.text]
    assert any(cue.span.start_s <= 5.0 and cue.span.end_s >= 5.8 for cue in jumps)


def test_nothing_false_stands_between(actions: dict[int, list[Cue]]) -> None:
    he_stands = Span(2.7, 3.1)
    assert not [cue.text for cue in actions[1] if cue.span.overlaps(he_stands)]
    done = (*BOTH_ARMS_OR_JUMP, "walks")
    assert not [cue.text for cue in actions[1] if not any(words in cue.text for words in done)]


def test_the_caption_is_read_with_its_times(seen: Perception) -> None:
    track = seen.timeline.track("screen_text")
    assert track is not None
    (caption,) = track.cues
    assert caption.text.upper() == sample.CAPTION
    assert caption.span.start_s == pytest.approx(sample.CAPTION_SPAN.start_s, abs=0.25)
    assert caption.span.end_s == pytest.approx(sample.CAPTION_SPAN.end_s, abs=0.25)


def test_the_spoken_line_is_heard_with_its_times(seen: Perception) -> None:
    track = seen.timeline.track("speech")
    assert track is not None
    (line,) = track.cues
    assert line.text == sample.LINE
    assert line.span.start_s == pytest.approx(sample.LINE_SPAN.start_s, abs=0.4)
    assert line.span.end_s == pytest.approx(sample.LINE_SPAN.end_s, abs=0.4)


def test_the_block_for_the_prompt_tells_it_in_order_of_time(seen: Perception) -> None:
    block = fuse(seen.timeline, Question("What happens?")).text
    told = [block.index(words) for words in (sample.CAPTION, "walks", sample.LINE, "jumps")]
    assert told == sorted(told)


@pytest.mark.parametrize("time_s", [1.0, 2.9, 3.8, 5.2, 6.8])
def test_a_still_frame_of_them_gives_no_action(tmp_path: Path, time_s: float) -> None:
    (frame,) = video.frames_at(sample.compose(), [time_s])
    still = clips.write_clip(
        tmp_path / "still.mp4", [np.array(frame.rgb)] * 3, times_s=[0.0, 1.5, 3.0]
    )
    found = perceive(still, only=["action"], cache=TrackCache(tmp_path))
    assert found.timeline.tracks[0].cues == ()


def test_a_second_run_takes_no_model(tmp_path: Path, seen: Perception) -> None:
    cache = TrackCache(tmp_path)
    clip = sample.compose()
    first = perceive(clip, only=["speech"], cache=cache)
    second = perceive(clip, only=["speech"], cache=cache)
    assert second.cached == {"speech"}
    assert second.timeline == first.timeline


def test_an_answer_tells_scores_and_where_they_are_calibrated_probabilities(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("ask", "sample", "What is it?", "--only", "action,speech", "--out", str(tmp_path))
    ran = commands.run(capsys, *asked, "--json", "--set", "videollm=scripted", *SAYS_YES)
    assert ran.code == 0
    for told in json.loads(ran.out)["rests_on"]:
        assert 0 < told["score"] < 1
        assert (told["probability"] is not None) == (told["kind"] == "action")
    page = (tmp_path / "sample.html").read_text(encoding="utf-8")
    timeline = CueTimeline.read(tmp_path / "sample.cues.json")
    scores = [score_words(cue.confidence) for _, cue in timeline.cues()]
    assert len(scores) >= 4
    assert page.count(" % calibrated)</td>") == len(scores) - 1
    assert all(f">{score}" in page for score in scores)
