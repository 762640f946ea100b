import io
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from perception.recognizer import Frame
from reasoning.transport.clip import clip, clip_url
from tests.perception import clips

TIMES_S = (0.5, 1.25, 2.0, 3.5, 4.0)
FRAMES = tuple(Frame(time_s, clips.numbered(7 * n, 96, 64)) for n, time_s in enumerate(TIMES_S))


def decoded(content: bytes) -> list[tuple[float, np.ndarray]]:
    with av.open(io.BytesIO(content)) as file:
        assert [stream.type for stream in file.streams] == ["video"]
        return [(frame.time, frame.to_ndarray(format="rgb24")) for frame in file.decode(video=0)]


def test_it_holds_exactly_the_frames_at_their_times() -> None:
    shown = decoded(clip(FRAMES, 64, keep_aspect=False))
    assert [time_s for time_s, _ in shown] == pytest.approx(TIMES_S, abs=1 / 90_000)
    assert [clips.number_in(picture) for _, picture in shown] == [0, 7, 14, 21, 28]
    assert {picture.shape for _, picture in shown} == {(64, 64, 3)}


def test_its_mean_rate_is_theirs_for_who_counts_frames(tmp_path: Path) -> None:
    (tmp_path / "clip.mp4").write_bytes(clip(FRAMES, 64, keep_aspect=False))
    counted = cv2.VideoCapture(str(tmp_path / "clip.mp4"))
    assert counted.get(cv2.CAP_PROP_FRAME_COUNT) == 5
    assert counted.get(cv2.CAP_PROP_FPS) == pytest.approx(4 / 3.5)


def test_sides_become_even_where_the_aspect_is_kept() -> None:
    frame = Frame(0.0, clips.four_corners(75, 51))
    (_, picture), *others = decoded(clip([frame], 50, keep_aspect=True))
    assert picture.shape == (34, 50, 3)
    assert not others
    assert picture[5, 5, 0] > 200
    assert picture[5, 5, 1] < 60
    assert picture[5, 45, 1] > 200


def test_its_own_size_is_kept_where_none_is_wished() -> None:
    ((_, picture),) = decoded(clip(FRAMES[:1], 0, keep_aspect=False))
    assert picture.shape == (64, 96, 3)


def test_it_goes_into_a_request_as_an_address() -> None:
    assert clip_url(FRAMES, 64, keep_aspect=False).startswith("data:video/mp4;base64,AAAA")
