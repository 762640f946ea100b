"""Controls take away what the cues say of the video, and as little else as can be."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusion.controls import CONTROLS, Control, corrupted, fuse_control
from fusion.fuse import FusionOptions, Tools, fuse
from fusion.question import Question
from fusion.selection import CuePrompt
from perception.cue import CueTimeline, Origin, Span
from perception.errors import BadInput, UnknownName
from tests.fusion.timelines import ROOF, VIDEO, any_timeline, cue, timeline

WHAT = Question("What happens?")
OTHER = replace(
    timeline(speech=[cue("o-1", 10, 30, "elsewhere", 0.9)]),
    video=replace(VIDEO, sha256="1" * 64, duration_s=240.0),
)
CLIMB = {"action": ("climbs", "jumps")}


def controlled(name: str, seed: int = 0, cues: CueTimeline = ROOF) -> CuePrompt:
    return fuse_control(Control(name, seed), cues, WHAT, other=OTHER, vocabulary=CLIMB)


def said(cues: CueTimeline) -> Counter[tuple[str, str, float]]:
    return Counter((track.id, cue.text, cue.confidence) for track, cue in cues.cues())


def test_shuffled_says_the_same_at_other_times() -> None:
    shuffled = corrupted(Control("shuffled", 3), ROOF)
    assert said(shuffled) == said(ROOF)
    (before, after) = (each.tracks[0].cues for each in (ROOF, shuffled))
    assert [(each.id, each.span) for each in after] == [(each.id, each.span) for each in before]
    assert all(one.text != other.text for one, other in zip(before, after, strict=True))


def test_shifted_moves_all_by_one_offset_around_the_end() -> None:
    shifted = corrupted(Control("shifted", 1), ROOF)
    assert said(shifted) == said(ROOF)
    new = {each.id: each.span for _, each in shifted.cues()}
    offsets = {(new[each.id].start_s - each.span.start_s) % 120 for _, each in ROOF.cues()}
    assert max(offsets) - min(offsets) < 1e-9
    assert 30 <= max(offsets) <= 90
    for _, each in ROOF.cues():
        assert new[each.id].duration_s == pytest.approx(each.span.duration_s)


def test_foreign_is_another_video_in_this_ones_time() -> None:
    foreign = corrupted(Control("foreign"), ROOF, other=OTHER)
    assert foreign.video == ROOF.video
    assert [(each.text, each.span) for _, each in foreign.cues()] == [("elsewhere", Span(5, 15))]


def test_drawn_takes_other_labels_of_the_vocabulary_and_leaves_the_rest() -> None:
    drawn = corrupted(Control("drawn", 2), ROOF, vocabulary=CLIMB)
    before, after = ROOF.tracks[0].cues, drawn.tracks[0].cues
    assert [each.span for each in after] == [each.span for each in before]
    assert [each.confidence for each in after] == [each.confidence for each in before]
    assert all(each.text in {"climbs", "jumps"} for each in after)
    words = drawn.track("speech").cues[0].text.split()  # type: ignore[union-attr]
    assert len(words) == 3
    assert set(words) <= {"Mind", "the", "gap!"}


def test_drawn_keeps_who_and_as_many_rivals() -> None:
    attributes = {"person": 2, "where": "left", "label": "wave", "top": [["wave", 0.7], ["x", 0.2]]}
    one = replace(cue("a", 0, 1, "person 2, left, waves", 0.7), attributes=attributes)
    labels = {"action": ("waves", "bows", "runs")}
    (new,) = corrupted(Control("drawn"), timeline(action=[one]), vocabulary=labels).tracks[0].cues
    assert new.text in {"person 2, left, bows", "person 2, left, runs"}
    assert [score for _, score in new.attributes["top"]] == [0.7, 0.2]
    assert new.attributes["top"][0][0] == new.attributes["label"]


def test_empty_is_the_notice_alone() -> None:
    prompt = controlled("empty")
    assert prompt.text == fuse(ROOF, WHAT).text.split("\n")[0]
    assert prompt.lines == ()
    assert len(prompt.selection.dropped) == 5


def test_filler_is_as_long_and_says_nothing() -> None:
    true, filler = fuse(ROOF, WHAT), controlled("filler")
    tools = Tools()
    assert 0 <= tools.count_tokens(true.text) - tools.count_tokens(filler.text) <= 3
    assert filler.text.split("\n")[0] == true.text.split("\n")[0]
    assert filler.text.count("\n") == true.text.count("\n")
    assert not any(word in filler.text for word in ("person", "waves", "ENTRY", "Mind", "0:0"))


def test_filler_goes_by_the_models_tokens() -> None:
    tools = Tools(count_tokens=lambda text: len(text))
    filler = fuse_control(Control("filler"), ROOF, WHAT, FusionOptions(budget_tokens=9999), tools)
    true = fuse(ROOF, WHAT, FusionOptions(budget_tokens=9999), tools)
    assert 0 <= len(true.text) - len(filler.text) < 10


@pytest.mark.parametrize("name", CONTROLS)
def test_the_same_seed_gives_the_same_and_it_is_recorded(name: str) -> None:
    first = controlled(name, 5)
    assert first == controlled(name, 5)
    assert first.control == Control(name, 5)
    assert fuse(ROOF, WHAT).control is None


@pytest.mark.parametrize("name", ["shuffled", "shifted", "drawn", "filler"])
def test_another_seed_gives_another(name: str) -> None:
    assert len({controlled(name, seed).text for seed in range(6)}) > 1


@pytest.mark.parametrize("name", ["shuffled", "shifted", "foreign", "drawn"])
def test_the_tracks_say_that_they_are_no_truth(name: str) -> None:
    for track in corrupted(Control(name, 4), ROOF, other=OTHER).tracks:
        assert track.origin is Origin.CONTROL
        assert track.source.settings["control"] == name
        assert track.source.settings["seed"] == 4


@pytest.mark.parametrize("name", ["shuffled", "shifted", "drawn", "empty", "filler"])
def test_a_control_of_a_persons_cues_is_announced_as_they_are(name: str) -> None:
    tracks = tuple(replace(track, origin=Origin.HUMAN) for track in ROOF.tracks)
    gold = replace(ROOF, tracks=tracks)
    heading = fuse(gold, WHAT).text.split("\n")[0]
    assert heading.startswith("These cues were annotated in the video by a person.")
    assert controlled(name, 1, gold).text.split("\n")[0] == heading
    assert "automatic" in controlled(name, 1).text.split("\n")[0]


def test_a_control_that_changes_nothing_says_so() -> None:
    shuffled = corrupted(Control("shuffled"), ROOF)
    assert shuffled.track("speech").notes == (  # type: ignore[union-attr]
        "The control 'shuffled' changes nothing here.",
    )
    assert shuffled.track("action").notes == ()  # type: ignore[union-attr]


def test_nothing_kept_stays_nothing() -> None:
    none = timeline(action=[cue("a", 0, 1, "waves", 0.1)])
    assert controlled("empty", cues=none).text == ""
    assert controlled("filler", cues=none).text == ""


def test_mistakes_are_sentences() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'shuffled'"):
        controlled("shufled")
    with pytest.raises(BadInput, match="cues of another video"):
        fuse_control(Control("foreign"), ROOF, WHAT)
    with pytest.raises(BadInput, match="cues of another video"):
        fuse_control(Control("foreign"), ROOF, WHAT, other=ROOF)
    with pytest.raises(UnknownName, match="control of a timeline"):
        corrupted(Control("empty"), ROOF)


@given(any_timeline(), st.sampled_from(CONTROLS), st.integers(0, 9), st.integers(0, 200))
def test_what_always_holds(cues: CueTimeline, name: str, seed: int, budget: int) -> None:
    options = FusionOptions(policies=("summarised", "hedged"), budget_tokens=budget)
    prompt = fuse_control(
        Control(name, seed), cues, WHAT, options, other=OTHER, vocabulary={"action": ("a", "b")}
    )
    known = OTHER if name == "foreign" else cues
    kept = [id for item in prompt.selection.kept for id in item.ids]
    dropped = [item.cue.id for item in prompt.selection.dropped]
    assert sorted(kept + dropped) == sorted(each.id for _, each in known.cues())
    assert Tools().count_tokens(prompt.text) <= budget
    assert all(
        0 <= item.cue.span.start_s <= item.cue.span.end_s <= 120 for item in prompt.selection.kept
    )
