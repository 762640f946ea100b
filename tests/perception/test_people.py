"""Following people through made-up poses whose right tracks are known by construction."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perception.errors import BadInput
from perception.skeleton.people import PeopleTracker, PersonTrack, TrackerOptions
from perception.skeleton.pose import PersonPose

RATE_HZ = 15

STANDING = np.array(
    [
        [0, 10],
        [3, 8],
        [-3, 8],
        [6, 10],
        [-6, 10],
        [18, 35],
        [-18, 35],
        [24, 65],
        [-24, 65],
        [26, 92],
        [-26, 92],
        [11, 95],
        [-11, 95],
        [12, 140],
        [-12, 140],
        [12, 185],
        [-12, 185],
    ],
    dtype=np.float32,
)
"""A person of 177 pixels from the eyes to the ankles, her nose at x = 0; the diagonal is 184."""


def person(x: float, y: float = 0.0, score: float = 0.9, height: float = 1.0) -> PersonPose:
    keypoints = STANDING * np.float32(height) + np.array([x, y], dtype=np.float32)
    return PersonPose(keypoints, np.full(17, 0.9, dtype=np.float32), score)


def followed(
    frames: Sequence[Sequence[PersonPose]],
    options: TrackerOptions | None = None,
    rate_hz: float = RATE_HZ,
) -> tuple[PersonTrack, ...]:
    tracker = PeopleTracker(options)
    for index, poses in enumerate(frames):
        tracker.feed(index / rate_hz, poses)
    return tracker.finish()


def middle_x(track: PersonTrack) -> npt.NDArray[np.float32]:
    return track.keypoints[:, 0, 0]


def test_nobody_gives_no_track() -> None:
    assert followed([[]] * 30) == ()
    assert PeopleTracker().finish() == ()


def test_one_person_is_one_track_with_all_times_and_poses() -> None:
    (track,) = followed([[person(100 + 4 * i)] for i in range(30)])
    assert track.id == 1
    assert np.allclose(track.times_s, np.arange(30) / RATE_HZ)
    assert np.allclose(middle_x(track), 100 + 4 * np.arange(30))
    assert track.observed.all()
    assert track.score == pytest.approx(0.9)
    assert track.span.start_s == 0.0
    assert track.span.end_s == pytest.approx(29 / RATE_HZ)
    assert track.boxes[0].tolist() == [74, 8, 126, 185]


def test_two_who_cross_keep_their_ids() -> None:
    """They pass each other at 120 pixels a second, a step of 8; in the frame in which they meet
    their poses differ by 4 pixels only."""
    frames = [[person(100 + 8 * i, 0), person(334 - 8 * i, 4)] for i in range(30)]
    one, two = followed(frames)
    assert np.allclose(middle_x(one), 100 + 8 * np.arange(30))
    assert np.allclose(middle_x(two), 334 - 8 * np.arange(30))


@given(st.integers(0, 2**30))
def test_the_order_in_which_poses_come_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frames = []
    for i in range(20):
        poses = [person(100 + 5 * i), person(400), person(700 - 5 * i)]
        frames.append([poses[k] for k in rng.permutation(3)])
    tracks = followed(frames)
    assert [track.id for track in tracks] == [1, 2, 3]
    assert np.allclose(middle_x(tracks[0]), 100 + 5 * np.arange(20))
    assert np.allclose(middle_x(tracks[1]), 400)
    assert np.allclose(middle_x(tracks[2]), 700 - 5 * np.arange(20))


def test_a_short_gap_is_bridged_by_a_straight_line_of_low_score() -> None:
    frames = [[person(100 + 4 * i)] if not 10 <= i < 16 else [] for i in range(30)]
    (track,) = followed(frames)
    assert np.flatnonzero(~track.observed).tolist() == list(range(10, 16))
    assert np.allclose(middle_x(track), 100 + 4 * np.arange(30), atol=1e-3)
    assert np.allclose(track.scores[10:16], 0.45)
    assert np.allclose(track.scores[track.observed], 0.9)


@pytest.mark.parametrize(("missing", "people"), [(14, 1), (16, 2)])
def test_a_gap_longer_than_the_limit_starts_a_new_id(missing: int, people: int) -> None:
    """Between the last sighting and the next lie (missing + 1) / 15 s; the limit is 1 s."""
    frames = [[person(100)]] * 15 + [[]] * missing + [[person(100)]] * 15
    assert len(followed(frames, TrackerOptions(max_gap_s=1.0))) == people


@pytest.mark.parametrize(("jump_px", "people"), [(60, 1), (250, 2)])
def test_a_jump_farther_than_the_limit_starts_a_new_id(jump_px: float, people: int) -> None:
    """At the diagonal of 184 pixels the limit is 184 · (0.35 + 3 / 15) = 101 pixels."""
    frames = [[person(100)]] * 15 + [[person(100 + jump_px)]] * 15
    options = TrackerOptions(max_jump=0.35, max_speed=3.0)
    assert len(followed(frames, options)) == people


def test_a_body_of_another_size_is_somebody_else() -> None:
    frames = [[person(100)]] * 15 + [[person(100, y=60, height=0.4)]] * 15
    assert len(followed(frames)) == 2


def test_one_wrong_pose_does_not_swap_two_people() -> None:
    """In one frame the left person's pose is missing and a wrong one lies on the right person."""
    frames = [[person(100), person(300)] for _ in range(30)]
    frames[12] = [person(305), person(300)]
    one, two = followed(frames)
    assert np.allclose(middle_x(one), 100)
    assert np.allclose(middle_x(two), 300, atol=5)
    assert not one.observed[12]
    assert one.observed.sum() == 29


@pytest.mark.parametrize(("frames_seen", "people"), [(5, 0), (12, 1)])
def test_short_tracks_are_dropped(frames_seen: int, people: int) -> None:
    """5 frames last 0.27 s, 12 last 0.73 s; the limit is 0.5 s in a clip of 4 s."""
    frames = [[person(100)] if 20 <= i < 20 + frames_seen else [] for i in range(60)]
    assert len(followed(frames)) == people


def test_a_short_clip_keeps_its_people() -> None:
    (track,) = followed([[person(100)]] * 3)
    assert len(track.times_s) == 3
    (track,) = followed([[person(100)]])
    assert track.times_s.tolist() == [0.0]


def test_tracks_of_low_score_are_dropped() -> None:
    frames = [[person(100, score=0.9), person(400, score=0.4)]] * 30
    (track,) = followed(frames, TrackerOptions(min_score=0.6))
    assert np.allclose(middle_x(track), 100)


def test_one_person_seen_twice_is_one_track() -> None:
    frames = [[person(100), person(106)] if i >= 10 else [person(100)] for i in range(30)]
    (track,) = followed(frames)
    assert len(track.times_s) == 30


def test_two_who_stand_apart_by_a_shoulder_are_two() -> None:
    frames = [[person(100), person(140)]] * 30
    assert len(followed(frames)) == 2


def test_ids_follow_the_order_of_appearance() -> None:
    frames = [
        [person(300)] + ([person(100)] if i >= 10 else []) + ([person(500)] if i >= 20 else [])
        for i in range(45)
    ]
    assert [float(middle_x(track)[0]) for track in followed(frames)] == [300, 100, 500]


def test_a_leap_is_followed() -> None:
    """A fall of 0.6 s from rest at 9.81 m/s² (177 pixels are 1.7 m): the last step is 39 pixels
    longer than the first."""
    frames = [[person(100 + 10 * i, 0.5 * 9.81 * (177 / 1.7) * (i / 15) ** 2)] for i in range(10)]
    (track,) = followed(frames)
    assert track.observed.all()


def test_frames_out_of_order_are_refused() -> None:
    tracker = PeopleTracker()
    tracker.feed(1.0, [])
    with pytest.raises(BadInput, match=r"1\.000 s came after 1\.000 s"):
        tracker.feed(1.0, [])


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_gap_s": -1},
        {"max_jump": float("nan")},
        {"min_share": 1.5},
        {"interpolated_score": -0.1},
        {"max_growth": 0.5},
    ],
)
def test_options_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    (name,) = wrong
    with pytest.raises(BadInput, match=name):
        TrackerOptions(**wrong)


@pytest.mark.parametrize(
    ("keypoints", "scores"), [((16, 2), (17,)), ((17, 3), (17,)), ((17, 2), (1,))]
)
def test_poses_of_another_shape_are_refused(
    keypoints: tuple[int, ...], scores: tuple[int, ...]
) -> None:
    with pytest.raises(BadInput, match=r"keypoints \[17, 2\]"):
        PersonPose(np.zeros(keypoints, np.float32), np.zeros(scores, np.float32), 0.5)


def test_five_dancers_who_swing_about_are_five_tracks() -> None:
    """Each swings 60 pixels to both sides, 150 pixels from the next, one frame in six missing."""
    rng = np.random.default_rng(0)
    frames = []
    for i in range(90):
        poses = [
            person(200 + 150 * k + 60 * np.sin(i / 5 + k), height=1 + 0.05 * k)
            for k in range(5)
            if rng.random() > 1 / 6
        ]
        frames.append(poses)
    tracks = followed(frames)
    assert len(tracks) == 5
    for one, other in itertools.pairwise(sorted(np.median(middle_x(t)) for t in tracks)):
        assert other - one == pytest.approx(150, abs=40)
