"""Windows, their merging into cues, and the action recognizer around a scripted classifier."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest

from perception.cue import Cue, CueTrack, Source, Span, Status, VideoInfo
from perception.errors import BadInput, UnknownName, UserError
from perception.recognizer import Frame
from perception.recognizers.action import ActionRecognizer, Options, build
from perception.shipped import shipped
from perception.skeleton.pose import PersonPose
from perception.skeleton.posec3d import ActionLabels
from perception.skeleton.runtimes import onnx
from perception.skeleton.windows import (
    clip_between,
    joint_travel,
    segments,
    smoothed,
    window_spans,
)

Floats = npt.NDArray[np.float32]

# --- windows ---------------------------------------------------------------------------------


def ends(spans: Sequence[Span]) -> list[tuple[float, float]]:
    return [(round(s.start_s, 6), round(s.end_s, 6)) for s in spans]


def test_windows_overlap_and_cover_the_tail() -> None:
    assert ends(window_spans(1.0, 4.2, 2.0, 0.5)) == [
        (1.0, 3.0),
        (1.5, 3.5),
        (2.0, 4.0),
        (2.2, 4.2),
    ]


def test_windows_that_fit_need_no_extra_one() -> None:
    assert ends(window_spans(0.0, 3.0, 2.0, 0.5)) == [(0, 2), (0.5, 2.5), (1, 3)]


def test_a_short_track_is_one_window() -> None:
    assert ends(window_spans(3.0, 3.4, 2.0, 0.5)) == [(3.0, 3.4)]


def test_the_papers_windows_do_not_overlap_but_for_the_tail() -> None:
    assert ends(window_spans(0.0, 25.0, 10.0, 10.0)) == [(0, 10), (10, 20), (15, 25)]


def test_a_clip_is_sampled_at_equal_steps_and_gaps_are_invisible() -> None:
    times = np.array([0.02, 0.12, 0.22, 1.0])
    keypoints = np.zeros((4, 17, 2), np.float32) + np.arange(4, dtype=np.float32)[:, None, None]
    scores = np.ones((4, 17), np.float32)
    got, seen, presence = clip_between(times, keypoints, scores, Span(0, 1), 10, max_gap_s=0.24)
    # steps at 0.05, 0.15 ... 0.95; those at 0.55, 0.65 and 0.75 are too far from every pose
    assert got[:, 0, 0].tolist() == [0, 1, 2, 2, 2, 2, 3, 3, 3, 3]
    assert seen[:, 0].tolist() == [1, 1, 1, 1, 1, 0, 0, 0, 1, 1]
    assert presence == pytest.approx(0.7)


def person(frames: int, rate_hz: float = 15.0) -> tuple[Floats, Floats]:
    """Somebody who stands still, 100 pixels tall."""
    pose = np.zeros((17, 2), np.float32)
    heights = {0: 0, 5: 15, 6: 15, 7: 35, 8: 35, 9: 50, 10: 50, 11: 50, 12: 50}
    heights |= {13: 75, 14: 75, 15: 100, 16: 100}
    for joint, height in heights.items():
        pose[joint] = (10 if joint % 2 else -10, height)
    return np.repeat(pose[None], frames, axis=0), np.ones((frames, 17), np.float32)


def test_joints_of_a_still_person_do_not_travel() -> None:
    keypoints, scores = person(30)
    assert joint_travel(keypoints, scores, 15) == 0


def test_jitter_is_less_travel_than_a_gesture() -> None:
    keypoints, scores = person(30)
    jitter = keypoints + np.random.default_rng(0).normal(0, 1, keypoints.shape).astype(np.float32)
    assert 0 < joint_travel(jitter, scores, 15) < 0.05
    gesture = keypoints.copy()
    wave = 12 * np.sin(np.linspace(0, 2 * np.pi, 30))[:, None]
    gesture[:, [8, 10], 0] += wave
    assert joint_travel(gesture, scores, 15) > 0.1


def test_one_jumping_joint_is_not_travel() -> None:
    keypoints, scores = person(30)
    keypoints[15:, 10] += 80
    assert joint_travel(keypoints, scores, 15) == 0


def test_windows_of_one_label_are_one_segment() -> None:
    spans = window_spans(0, 3, 2, 0.5)
    found = segments(spans, np.array([[0.9, 0.1], [0.7, 0.3], [0.8, 0.2]], np.float32))
    assert [(s.label, s.span, s.best) for s in found] == [(0, Span(0, 3), 0)]


def test_labels_change_where_their_posteriors_cross() -> None:
    spans = window_spans(0, 3.5, 2, 0.5)  # centres 1, 1.5, 2, 2.5
    rows = [[0.8, 0.1, 0.1], [0.5, 0.3, 0.2], [0.2, 0.7, 0.1], [0.1, 0.8, 0.1]]
    found = segments(spans, np.array(rows, np.float32))
    # between 1.5 and 2 s the lead falls from 0.2 to -0.5: it is zero after 2/7 of half a second
    crossing = 1.5 + 0.5 * 0.2 / 0.7
    assert [s.label for s in found] == [0, 1]
    assert found[0].span.end_s == pytest.approx(crossing)
    assert found[1].span.start_s == pytest.approx(crossing)
    assert (found[0].best, found[1].best) == (0, 3)


def test_a_short_action_gets_its_own_times() -> None:
    spans = window_spans(0, 4, 2, 0.5)  # centres 1, 1.5, 2, 2.5, 3
    rows = [[1, 0], [0.9, 0.1], [0.1, 0.9], [0.9, 0.1], [1, 0]]
    found = segments(spans, np.array(rows, np.float32))
    assert [(s.label, round(s.span.start_s, 3), round(s.span.end_s, 3)) for s in found] == [
        (0, 0.0, 1.75),
        (1, 1.75, 2.25),
        (0, 2.25, 4.0),
    ]


def test_segments_of_separate_windows_keep_to_their_windows() -> None:
    spans = [Span(0, 10), Span(10, 20)]
    found = segments(spans, np.array([[0.99, 0.01], [0.4, 0.6]], np.float32))
    assert [s.span for s in found] == [Span(0, 10), Span(10, 20)]


def test_a_window_is_averaged_with_those_that_share_most_of_its_time() -> None:
    spans = window_spans(0, 3.5, 2, 0.5)  # centres 1, 1.5, 2, 2.5
    odd = np.array([[1, 0], [0, 1], [1, 0], [1, 0]], np.float32)
    # neighbours half a second away weigh 1/2, those a second away nothing
    expected = [[1 / 1.5, 0.5 / 1.5], [0.5, 0.5], [1.5 / 2, 0.5 / 2], [1, 0]]
    assert smoothed(spans, odd) == pytest.approx(np.array(expected), abs=1e-6)


def test_windows_that_do_not_overlap_are_not_averaged() -> None:
    posteriors = np.array([[1, 0], [0, 1]], np.float32)
    assert np.array_equal(smoothed([Span(0, 10), Span(10, 20)], posteriors), posteriors)


def test_no_window_no_segment() -> None:
    assert segments([], np.zeros((0, 3), np.float32)) == []


# --- the recognizer --------------------------------------------------------------------------

VIDEO = VideoInfo("clip.mp4", "0" * 64, 0.0, 6.0, 300, 300, 15.0)
LABELS = ActionLabels(
    ("wave", "jump", "none"), ("waves a hand", "jumps", ""), 2, np.arange(3), temperature=0.9
)


class ScriptedEstimator:
    """Returns the poses of a script, whatever the picture shows."""

    checkpoints = ()
    settings: Mapping[str, object] = MappingProxyType({})

    def __init__(self, script: Callable[[float], Sequence[PersonPose]]) -> None:
        self._script = script

    def estimate(self, frame: Frame) -> Sequence[PersonPose]:
        return self._script(frame.time_s)

    def stream(self) -> ScriptedEstimator:
        return self


class ScriptedClassifier:
    """Reads the label off the head's horizontal place, which the script of the poses sets."""

    checkpoints = ()
    settings: ClassVar[dict[str, str]] = {"labels": LABELS.digest}
    labels = LABELS

    def __init__(self) -> None:
        self.calls = 0

    def classify(
        self, keypoints: Floats, scores: Floats, picture: tuple[int, int] | None = None
    ) -> Floats:
        self.calls += 1
        self.people = len(keypoints)
        lean = float(np.mean(keypoints[:, :, 0, 0] - keypoints[:, :, 11, 0]))
        shares = {True: [0.8, 0.1, 0.1], False: [0.05, 0.15, 0.8]}
        return np.array(shares[lean > 0], np.float32)


def body(x: float, y: float, lean: float, swing: float = 0.0) -> PersonPose:
    keypoints, scores = person(1)
    keypoints = keypoints[0] + np.array([x, y], np.float32)
    keypoints[0, 0] = keypoints[11, 0] + lean
    keypoints[[8, 10], 0] += swing
    return PersonPose(keypoints.astype(np.float32), scores[0], 0.95)


def swing(time_s: float) -> float:
    return float(20 * np.sin(2 * np.pi * time_s))


def track_of(
    script: Callable[[float], Sequence[PersonPose]],
    seconds: float = 6.0,
    options: Options | None = None,
    classifier: ScriptedClassifier | None = None,
) -> CueTrack:
    recognizer = ActionRecognizer(
        options or Options(), ScriptedEstimator(script), classifier or ScriptedClassifier()
    )
    session = recognizer.start(VIDEO)
    picture = np.zeros((4, 4, 3), np.uint8)
    for i in range(round(seconds * 15)):
        session.feed([Frame(i / 15, picture)])
    return session.finish().track


def recognise(
    script: Callable[[float], Sequence[PersonPose]],
    seconds: float = 6.0,
    options: Options | None = None,
    classifier: ScriptedClassifier | None = None,
) -> tuple[tuple[Cue, ...], Status]:
    track = track_of(script, seconds, options, classifier)
    return track.cues, track.status


def test_an_action_is_a_cue_with_words_times_and_probabilities() -> None:
    cues, status = recognise(lambda t: [body(60, 10, +5, swing(t))])
    (cue,) = cues
    assert status is Status.COMPLETE
    assert cue.text == "person 1 waves a hand"
    assert cue.span.start_s == 0
    assert cue.span.end_s == pytest.approx(6, abs=0.01)
    assert cue.confidence == pytest.approx(0.8)
    assert cue.attributes["label"] == "wave"
    assert cue.attributes["person"] == 1
    assert cue.attributes["where"] == "upper left"
    assert [name for name, _ in cue.attributes["top"]] == ["wave", "jump", "none"]


def test_each_of_two_people_is_named_with_a_place() -> None:
    cues, _ = recognise(lambda t: [body(50, 20, +5, swing(t)), body(250, 190, +5, swing(t))])
    assert [cue.text for cue in cues] == [
        "person 1, upper left, waves a hand",
        "person 2, lower right, waves a hand",
    ]
    assert len({cue.id for cue in cues}) == 2


def test_none_never_becomes_a_cue() -> None:
    cues, status = recognise(lambda t: [body(150, 100, -5, swing(t))])
    assert cues == ()
    assert status is Status.COMPLETE


def test_a_still_person_gives_no_cue_and_costs_no_classification() -> None:
    classifier = ScriptedClassifier()
    cues, _ = recognise(lambda t: [body(150, 100, +5)], classifier=classifier)
    assert cues == ()
    assert classifier.calls == 0


def test_the_motion_gate_can_be_switched_off() -> None:
    cues, _ = recognise(lambda t: [body(150, 100, +5)], options=Options(least_travel=0))
    assert [cue.attributes["label"] for cue in cues] == ["wave"]


def test_unsure_is_no_cue() -> None:
    options = Options(least_confidence=0.9)
    assert recognise(lambda t: [body(60, 10, +5, swing(t))], options=options)[0] == ()


def test_an_action_in_the_middle_gets_its_own_times() -> None:
    def script(t: float) -> list[PersonPose]:
        return [body(150, 100, +50 if 2 <= t < 4 else -20, swing(t))]

    (cue,) = recognise(script)[0]
    # windows whose mean lean is positive: more than 4/7 of a second of the action in them
    assert cue.span.start_s == pytest.approx(1.75, abs=0.3)
    assert cue.span.end_s == pytest.approx(4.25, abs=0.3)


def test_a_clip_shorter_than_a_window_is_covered() -> None:
    (cue,) = recognise(lambda t: [body(60, 10, +5, swing(t))], seconds=1.0)[0]
    assert cue.span.start_s == 0
    assert cue.span.end_s == pytest.approx(1.0)


def test_a_single_frame_shows_no_action() -> None:
    cues, status = recognise(lambda t: [body(60, 10, +5)], seconds=1 / 15)
    assert cues == ()
    assert status is Status.COMPLETE


def test_nobody_is_no_signal() -> None:
    cues, status = recognise(lambda t: [])
    assert cues == ()
    assert status is Status.NO_SIGNAL


def test_people_of_whom_nothing_known_is_seen_are_told() -> None:
    def script(t: float) -> list[PersonPose]:
        return [body(60, 10, +5, swing(t)), body(200, 10, +5)]

    assert track_of(script).notes == ("No known action was recognised for person 2.",)
    assert track_of(lambda t: [body(60, 10, +5, swing(t))]).notes == ()


def test_the_source_pins_labels_and_settings() -> None:
    def source(options: Options) -> Source:
        estimator = ScriptedEstimator(lambda t: [])
        return ActionRecognizer(options, estimator, ScriptedClassifier()).source

    assert source(Options()) == source(Options())
    assert source(Options()) != source(Options(window_s=3))
    assert source(Options()).settings["runtimes"] == {"onnx": {"labels": LABELS.digest}}


def test_the_source_pins_a_network_of_ones_own(tmp_path: Path) -> None:
    folder = shipped("checkpoints") / "posec3d_mimed"
    for name in ("posec3d_mimed.onnx", "labels.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    runtimes = {"onnx": onnx.Options(checkpoint=str(tmp_path))}
    own, ours = build(Options(runtimes=runtimes)).source, build(Options()).source
    # the same file: the same sha256, in the place of the classifier's
    assert own.checkpoint_sha256 == ours.checkpoint_sha256
    assert own.checkpoint_sha256.count("+") == 2
    assert own != ours


@pytest.mark.parametrize("wrong", [{"window_s": 0}, {"top": 0}, {"least_confidence": 1.5}])
def test_wrong_options_are_named(wrong: dict[str, float]) -> None:
    with pytest.raises(BadInput, match=next(iter(wrong))):
        Options(**wrong)  # type: ignore[arg-type]


# --- everybody in a window at once ---------------------------------------------------------------

TOGETHER = Options(people="together", window_s=2, stride_s=2)


def test_all_people_of_a_window_are_one_clip() -> None:
    classifier = ScriptedClassifier()

    def script(t: float) -> list[PersonPose]:
        return [body(50, 20, +5, swing(t)), body(250, 190, +5, swing(t))]

    (cue,) = recognise(script, options=TOGETHER, classifier=classifier)[0]
    assert (classifier.calls, classifier.people) == (3, 2)
    assert cue.text == "person 1 or 2 waves a hand"
    assert cue.attributes["people"] == [1, 2]
    assert "person" not in cue.attributes
    assert cue.span == Span(0, 6)
    assert track_of(script, options=TOGETHER).notes == ()


def test_each_window_is_a_cue_of_its_own_where_they_are_not_merged() -> None:
    options = Options(window_s=2, stride_s=2, merge=False)
    cues, _ = recognise(lambda t: [body(60, 10, +5, swing(t))], options=options)
    assert [ends([cue.span])[0] for cue in cues] == [(0, 2), (2, 4), (4, 6)]
    assert [cue.id for cue in cues] == ["action-1", "action-2", "action-3"]


def test_people_together_are_told_in_order_of_their_numbers() -> None:
    def script(t: float) -> list[PersonPose]:
        first = body(50, 20, +5, swing(t))
        dim = PersonPose(first.keypoints, first.scores * np.float32(0.8), 0.95)
        return [dim, body(250, 190, +5, swing(t))]

    (cue,) = recognise(script, options=TOGETHER)[0]
    assert (cue.text, cue.attributes["people"]) == ("person 1 or 2 waves a hand", [1, 2])


def test_together_is_at_most_so_many_those_who_are_seen_best() -> None:
    classifier = ScriptedClassifier()

    def script(t: float) -> list[PersonPose]:
        three = [body(50, 20, +5, swing(t)), body(250, 190, +5, swing(t)), body(150, 20, +5)]
        dim = PersonPose(three[0].keypoints, three[0].scores * np.float32(0.6), 0.95)
        return [dim, *three[1:]]

    (cue,) = recognise(script, options=TOGETHER, classifier=classifier)[0]
    assert classifier.people == 2
    assert cue.attributes["people"] == [2, 3]


def test_alone_together_is_told_as_one_person() -> None:
    (cue,) = recognise(lambda t: [body(60, 10, +5, swing(t))], options=TOGETHER)[0]
    assert cue.text == "person 1 waves a hand"
    assert (cue.attributes["person"], cue.attributes["where"]) == (1, "upper left")


def test_windows_together_are_counted_from_the_start_of_the_video() -> None:
    def script(t: float) -> list[PersonPose]:
        return [body(60, 10, +5, swing(t))] if t >= 2.9 else []

    (cue,) = recognise(script, options=TOGETHER)[0]
    # half of the window from 2 s to 4 s must show somebody; the one from 0 s to 2 s shows nobody
    assert cue.span.start_s == 2
    assert recognise(lambda t: [], options=TOGETHER) == ((), Status.NO_SIGNAL)


# --- windows of every odd shape, with the embedded network ---------------------------------------


def enters(t: float) -> list[PersonPose]:
    """Two people, one of whom comes late and leaves early, with a gap in the other's track."""
    one = [] if 1.9 < t < 2.4 else [body(60, 10, +5, swing(t))]
    return one + ([body(200, 100, -5, -swing(t))] if 2 <= t < 4.5 else [])


def swaps(t: float) -> list[PersonPose]:
    """Two people whose order changes in every frame and whose places change at once."""
    left, right = body(60, 10, +5, swing(t)), body(200, 10, -5, -swing(t))
    if t >= 3:
        left, right = body(200, 10, +5, swing(t)), body(60, 10, -5, -swing(t))
    return [left, right] if round(t * 15) % 2 else [right, left]


def flickers(t: float) -> list[PersonPose]:
    """Seen in every third frame only, joints at the edge of the picture and beyond."""
    pose = body(-20, 230, +5, swing(t))
    return [pose] if round(t * 15) % 3 == 0 else []


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("people", ["each", "together"])
@pytest.mark.parametrize("window_s", [0.07, 0.5, 2.0, 3.3, 10.0])
@pytest.mark.parametrize("script", [enters, swaps, flickers])
def test_odd_windows_give_finite_scores_and_right_spans(
    script: Callable[[float], Sequence[PersonPose]], window_s: float, people: str
) -> None:
    options = Options(
        people=people, window_s=window_s, stride_s=window_s, least_confidence=0, least_travel=0
    )
    recognizer = build(options)
    ours = ActionRecognizer(options, ScriptedEstimator(script), recognizer.classifier)
    session = ours.start(VIDEO)
    for i in range(90):
        session.feed([Frame(i / 15, np.zeros((4, 4, 3), np.uint8))])
    track = session.finish().track
    assert track.status is Status.COMPLETE
    for cue in track.cues:
        assert 0 <= cue.span.start_s < cue.span.end_s <= VIDEO.duration_s + 1e-6
        assert 0 < cue.confidence <= 1
        start_s, end_s = cue.attributes["window_s"]
        assert end_s - start_s <= max(window_s, 0.07) + 1e-3
        assert all(0 <= p <= 1 for _, p in cue.attributes["top"])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("people", ["each", "together"])
def test_one_frame_is_one_window(people: str) -> None:
    options = Options(people=people, least_confidence=0, least_travel=0)
    track = track_of(lambda t: [body(60, 10, +5)], 1 / 15, options)
    assert len(track.cues) <= 1
    assert all(cue.span.start_s == 0 for cue in track.cues)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"people": "all"}, "way to take people 'all'"),
        ({"most_people": 0}, "most_people is 0"),
        ({"stride_s": -1}, "stride_s is -1"),
    ],
)
def test_what_no_recognizer_can_do_is_named(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        Options(**wrong)


def test_an_unknown_runtime_lists_those_there_are() -> None:
    with pytest.raises(UnknownName, match=r"runtime 'onx'\. Did you mean 'onnx'"):
        build(Options(runtime="onx"))
