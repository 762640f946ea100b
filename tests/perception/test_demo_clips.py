"""People on the demo clips of mmaction2 and mmpose, which are in no package: the environment
variable ``CUELIGHT_DEMO_CLIPS`` names their folder (demo, demo_skeleton, mmpose_demo.mp4)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import cv2
import numpy as np
import pytest

from perception import video
from perception.recognizer import Frame
from perception.skeleton.people import PeopleTracker, PersonTrack
from perception.skeleton.pose import MAX_SIDE_PX, RATE_HZ
from perception.skeleton.pose_estimators import blazepose

FOLDER = os.environ.get("CUELIGHT_DEMO_CLIPS", "")
HANDS = (slice(58, 148), slice(140, 260))
"""Rows and columns of demo.mp4 in which two men clasp hands to wrestle."""

pytestmark = [
    pytest.mark.weights,
    pytest.mark.skipif(not FOLDER, reason="needs the demo clips (CUELIGHT_DEMO_CLIPS)"),
]


def people(frames: Iterable[Frame]) -> tuple[PersonTrack, ...]:
    stream = blazepose.build(blazepose.Options()).stream()
    tracker = PeopleTracker()
    for frame in frames:
        tracker.feed(frame.time_s, stream.estimate(frame))
    return tracker.finish()


@pytest.mark.parametrize(("name", "count"), [("demo_skeleton.mp4", 2), ("mmpose_demo.mp4", 1)])
def test_those_who_are_there_are_followed(name: str, count: int) -> None:
    assert len(people(video.frames(Path(FOLDER) / name, RATE_HZ, MAX_SIDE_PX))) == count


def test_a_close_up_of_hands_is_nobody() -> None:
    frames = (
        Frame(frame.time_s, cv2.resize(np.array(frame.rgb[HANDS]), (640, 480)))
        for frame in video.frames(Path(FOLDER) / "demo.mp4", RATE_HZ, 0)
    )
    assert people(frames) == ()
