"""Person boxes: of the embedded detector, and of a user's file with its faults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perception.errors import BadInput, UserError
from perception.recognizer import Frame
from perception.skeleton.boxes import MARGIN, BoxOptions, around, box_source
from perception.skeleton.boxes_file import BoxesFile, BoxRow
from perception.skeleton.pose import PersonPose

HEADER = "time_s,left,top,right,bottom,score\n"


def frame(time_s: float = 0.0, width: int = 640, height: int = 360, scale: float = 1.0) -> Frame:
    return Frame(time_s, np.zeros((height, width, 3), np.uint8), scale)


def written(folder: Path, text: str) -> BoxOptions:
    path = folder / "boxes.csv"
    path.write_text(text, encoding="utf-8")
    return BoxOptions(file=str(path))


def test_a_frame_takes_the_boxes_of_the_nearest_time(tmp_path: Path) -> None:
    rows = "0.5,10,20,110,220,0.9\n0.7,30,40,130,240,0.8\n0.5,300,20,400,220,0.7\n"
    source = box_source(written(tmp_path, HEADER + rows))
    corners, scores = source.find(frame(0.55))
    assert corners.tolist() == [[10, 20, 110, 220], [300, 20, 400, 220]]
    assert scores.tolist() == pytest.approx([0.9, 0.7])
    assert source.stream().find(frame(0.65)).corners.tolist() == [[30, 40, 130, 240]]


@pytest.mark.parametrize("time_s", [0.0, 0.39, 0.81, 60.0])
def test_where_the_file_has_no_near_time_nobody_is(tmp_path: Path, time_s: float) -> None:
    rows = "0.5,10,20,110,220,0.9\n0.7,30,40,130,240,0.8\n"
    corners, scores = box_source(written(tmp_path, HEADER + rows)).find(frame(time_s))
    assert corners.shape == (0, 4)
    assert scores.shape == (0,)


@pytest.mark.parametrize("time_s", [0.4, 0.8])
def test_the_farthest_time_that_counts_is_within_s(tmp_path: Path, time_s: float) -> None:
    rows = "0.5,10,20,110,220,0.9\n0.7,30,40,130,240,0.8\n"
    assert len(box_source(written(tmp_path, HEADER + rows)).find(frame(time_s)).corners) == 1


def test_columns_come_in_any_order_and_the_score_may_be_left_out(tmp_path: Path) -> None:
    text = "\ufeffleft, top, right, bottom, time_s\r\n1, 2, 3.5, 4, 0\r\n\r\n5, 6, 7, 8, 1e0\r\n"
    source = box_source(written(tmp_path, text))
    assert source.find(frame(0)).corners.tolist() == [[1, 2, 3.5, 4]]
    corners, scores = source.find(frame(1))
    assert corners.tolist() == [[5, 6, 7, 8]]
    assert scores.tolist() == [1]


def test_a_file_without_boxes_is_a_video_without_persons(tmp_path: Path) -> None:
    assert len(box_source(written(tmp_path, HEADER)).find(frame()).corners) == 0


def test_boxes_are_of_the_full_size_picture_and_cut_to_it(tmp_path: Path) -> None:
    """A picture of 640×360 at half size shows 1280×720."""
    source = box_source(written(tmp_path, HEADER + "0,-20,-10,1400,800,1\n"))
    assert source.find(frame(scale=2.0)).corners.tolist() == [[0, 0, 1280, 720]]


def test_semicolons_part_numbers_with_decimal_commas(tmp_path: Path) -> None:
    text = "time_s;left;top;right;bottom\n0,0;1,5;2;9;9,25\n"
    path = tmp_path / "boxes.csv"
    path.write_text(text)
    (box,) = BoxesFile.read(path).near(0, 0.1)
    assert box.corners == (1.5, 2.0, 9.0, 9.25)


def test_a_box_outside_of_the_picture_names_its_line(tmp_path: Path) -> None:
    source = box_source(written(tmp_path, HEADER + "0,1,1,9,9,1\n0,640,10,700,90,1\n"))
    with pytest.raises(BadInput, match=r"line 3: the box lies outside of .* 640×360 pixels"):
        source.find(frame())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: there is no column 'time_s'"),
        ("0,1,2,3,4\n", "line 1: There is no column '0'"),
        ("time,left,top,right,bottom\n", "'time'. Did you mean 'time_s'?"),
        ("time_s,left,top,right,bottom,left\n", "line 1: the column 'left' stands here twice."),
        ("time_s|left|top|right|bottom\n", "line 1: There is no column 'time_s|left|top"),
        (HEADER + "0,1,2,3\n", "line 2: it has 4 values, the header 6."),
        (HEADER + "\n0,1,2,3,4,0.5\n0,1,2,x,4,0.5\n", "line 4: right must be a number, not 'x'."),
        (HEADER + "nan,1,2,3,4,0.5\n", "line 2: time_s must be a number, not 'nan'."),
        (HEADER + "0,1,2,inf,4,0.5\n", "line 2: right must be a number, not 'inf'."),
        (HEADER + "-1,1,2,3,4,0.5\n", "line 2: time_s is -1; a video begins at 0."),
        (HEADER + "0,3,2,3,4,0.5\n", "line 2: right and bottom must be more than left and top"),
        (HEADER + "0,1,2,3,1,0.5\n", "not 1, 2, 3, 1 (left, top, right, bottom)."),
        (HEADER + "0,1,2,3,4,1.5\n", "line 2: score must lie in [0, 1], not 1.5."),
        (HEADER + '0,"1,2,3,4,5\n', "line 2: it is no CSV: "),
    ],
)
def test_a_fault_in_the_file_names_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        box_source(written(tmp_path, text))
    assert str(caught.value).startswith(f"The boxes file {str(tmp_path / 'boxes.csv')!r}, line ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Cannot read the boxes file"):
        box_source(BoxOptions(file=str(tmp_path / "none.csv")))


@pytest.mark.parametrize("wrong", [{"within_s": -0.1}, {"max_people": 0}])
def test_options_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    (name,) = wrong
    with pytest.raises(BadInput, match=name):
        BoxOptions(**wrong)


def test_what_pins_a_file_is_its_content_not_its_name(tmp_path: Path) -> None:
    first = box_source(written(tmp_path, HEADER + "0,1,2,3,4,1\n"))
    (tmp_path / "boxes.csv").rename(tmp_path / "other.csv")
    same = box_source(BoxOptions(file=str(tmp_path / "other.csv")))
    other = box_source(written(tmp_path, HEADER + "0,1,2,3,5,1\n"))
    assert first.settings == same.settings != other.settings
    assert first.checkpoints == ()


times = st.floats(0, 100).map(lambda number: round(number, 3))


@given(st.lists(times, max_size=8), times, st.floats(0, 5))
def test_the_nearest_time_is_never_missed(
    known: list[float], time_s: float, within_s: float
) -> None:
    rows = [BoxRow(at, each, (0, 0, 1, 1), 1.0) for at, each in enumerate(known, start=2)]
    near = BoxesFile("boxes.csv", "", rows).near(time_s, within_s)
    distance = min((abs(each - time_s) for each in known), default=np.inf)
    assert bool(near) == (distance <= within_s + 1e-6)
    for row in near:
        assert abs(row.time_s - time_s) == distance
        assert row.time_s == near[0].time_s


def pose(points: list[tuple[float, float]], scores: list[float]) -> PersonPose:
    keypoints = np.full((17, 2), -500, np.float32)
    keypoints[: len(points)] = points
    sure = np.zeros(17, np.float32)
    sure[: len(scores)] = scores
    return PersonPose(keypoints, sure, 0.8)


def test_a_box_holds_the_seen_joints_and_a_margin() -> None:
    """Joints from (100, 50) to (150, 250): the longer side is 200, so that each side gets 14."""
    assert MARGIN == 0.07
    seen = pose([(100, 50), (150, 250), (600, 300)], [0.9, 0.8, 0.1])
    corners, scores = around([seen], frame())
    assert corners.tolist() == [pytest.approx([86, 36, 164, 264])]
    assert scores.tolist() == pytest.approx([0.8])


def test_a_box_ends_where_the_picture_ends_and_who_is_outside_has_none() -> None:
    at_the_edge = pose([(620, 50), (660, 250)], [0.9, 0.9])
    outside = pose([(700, 50), (800, 250)], [0.9, 0.9])
    corners, scores = around([at_the_edge, outside], frame())
    assert corners.tolist() == [pytest.approx([606, 36, 640, 264])]
    assert len(scores) == 1


def test_nobody_has_no_box() -> None:
    corners, scores = around([], frame())
    assert corners.shape == (0, 4)
    assert scores.shape == (0,)


def test_the_embedded_detector_loads_nothing_when_built() -> None:
    source = box_source(BoxOptions(max_people=2))
    assert source.checkpoints == ("blazepose_detector", "blazepose_landmarks")
    assert source.settings["max_people"] == 2
