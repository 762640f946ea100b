"""Annotations of a person as cue tracks, beside or in place of a recognizer's."""

from __future__ import annotations

import pytest

from perception.cue import Cue, CueTimeline, CueTrack, Origin, Source, Span, VideoInfo
from perception.errors import BadInput, UnknownName
from perception.format import Annotation
from perception.human_track import about_video, added, human_tracks, of_tiers

VIDEO = VideoInfo("clip.mp4", "ab" * 32, 0.0, 10.0, 640, 360, 25.0)
SOURCE = Source("elan", settings={"file": "clip.eaf"})


def said(text: str, start_s: float = 1.0, **rest: object) -> Annotation:
    return Annotation(Span(start_s, start_s + 1), text, **rest)  # type: ignore[arg-type]


def perceived(*ids: str, kind: str = "speech", track: str = "speech") -> CueTrack:
    return CueTrack(track, kind, Source("x"), tuple(Cue(id, Span(0, 1), "a", 0.5) for id in ids))


def test_every_tier_is_a_track_of_its_kind_in_order_of_time() -> None:
    speech, action = human_tracks(
        [said("b", 3, track="speech"), said("waves", track="action"), said("a", track="speech")],
        VIDEO,
        SOURCE,
    )
    assert [(cue.id, cue.text) for cue in speech.cues] == [("speech-1", "a"), ("speech-2", "b")]
    assert (speech.origin, speech.source) == (Origin.HUMAN, SOURCE)
    assert action.cues[0].attributes == {"label": "waves"}
    assert speech.cues[0].attributes == {}


def test_a_given_kind_holds_for_all_and_the_file_s_kind_before_the_tier_s_name() -> None:
    annotations = [said("a", track="left", kind="action"), said("b", track="right", kind="action")]
    assert [track.kind for track in human_tracks(annotations, VIDEO, SOURCE)] == ["action"]
    assert [track.kind for track in human_tracks(annotations, VIDEO, SOURCE, "x")] == ["x"]


def test_ids_of_the_file_are_kept_where_they_are_ids() -> None:
    (kept,) = human_tracks([said("a", id="p"), said("b", id="q")], VIDEO, SOURCE, "speech")
    assert [cue.id for cue in kept.cues] == ["p", "q"]
    (numbered,) = human_tracks([said("a", id="p"), said("b", id="p")], VIDEO, SOURCE, "speech")
    assert [cue.id for cue in numbered.cues] == ["speech-1", "speech-2"]


def test_an_own_label_is_not_overwritten() -> None:
    (track,) = human_tracks([said("a", attributes={"label": "wave"})], VIDEO, SOURCE, "action")
    assert track.cues[0].attributes == {"label": "wave"}


def test_ids_that_are_taken_get_another_name() -> None:
    timeline = CueTimeline(VIDEO, (perceived("speech-1", "speech-human-1"),))
    (track,) = human_tracks([said("a")], VIDEO, SOURCE, "speech")
    once = added(timeline, [track])
    twice = added(once, [track])
    assert [each.id for each in twice.tracks] == ["speech", "speech-human", "speech-human-2"]
    assert [cue.id for cue in twice.tracks[1].cues] == ["speech-human-1'"]
    assert [cue.id for cue in twice.tracks[2].cues] == ["speech-human-2-1"]


def test_replacing_takes_every_track_of_the_kind_and_no_other() -> None:
    tracks = (
        perceived("a"),
        perceived("b", track="speech-human"),
        perceived("c", kind="action", track="action"),
    )
    (track,) = human_tracks([said("x")], VIDEO, SOURCE, "speech")
    whole = added(CueTimeline(VIDEO, tracks), [track], replace=True)
    assert [each.id for each in whole.tracks] == ["action", "speech"]


def test_a_span_may_end_late_but_not_begin_late() -> None:
    (track,) = human_tracks([said("a", 9.5)], VIDEO, SOURCE, "speech")
    assert track.cues[0].span == Span(9.5, 10)
    assert track.notes == ("1 cue that lasts longer than the video was cut at its end.",)
    (track,) = human_tracks([said("a", 9.5), said("b", 9.7)], VIDEO, SOURCE, "speech")
    assert track.notes == ("2 cues that last longer than the video were cut at its end.",)
    with pytest.raises(BadInput, match="is the file of another video"):
        human_tracks([said("a", 10)], VIDEO, SOURCE, "speech")


def test_a_single_video_is_taken_at_its_word_and_several_are_told_apart() -> None:
    one = [said("a", video="other name.mp4")]
    assert about_video(one, "clip.mp4") == tuple(one)
    two = [said("a", video="clip.webm"), said("b", video="more.mp4"), said("c")]
    assert [each.text for each in about_video(two, "clip.mp4")] == ["a", "c"]
    exact = [said("a", video="clip.webm"), said("b", video="clip.mp4")]
    assert [each.text for each in about_video(exact, "clip.mp4")] == ["b"]
    with pytest.raises(BadInput, match=r"speaks of 'a\.mp4', 'b\.mp4', and not of 'clip\.mp4'"):
        about_video([said("a", video="a.mp4"), said("b", video="b.mp4")], "clip.mp4")


def test_tiers_are_chosen_by_name() -> None:
    annotations = [said("a", track="left"), said("b", track="right")]
    assert [each.text for each in of_tiers(annotations, ["right"])] == ["b"]
    assert len(of_tiers(annotations, [])) == 2
    with pytest.raises(UnknownName, match=r"no tier 'rigt'\. Did you mean 'right'"):
        of_tiers(annotations, ["rigt"])
