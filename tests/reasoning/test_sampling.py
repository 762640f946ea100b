from collections.abc import Callable
from pathlib import Path

import pytest

from perception.cue import Span, VideoInfo
from perception.video import probe
from reasoning.sampling import SampledFrames, frame_times_s, sample_frames
from reasoning.videollm import FrameSampling
from tests.perception import clips

Clip = Callable[[int], tuple[Path, VideoInfo]]


@pytest.fixture
def clip(tmp_path: Path) -> Clip:
    """Ten pictures a second, each with its number in it."""

    def write(count: int) -> tuple[Path, VideoInfo]:
        path = tmp_path / f"{count}.mp4"
        pictures = [clips.numbered(number) for number in range(count)]
        clips.write_clip(path, pictures)
        return path, probe(path)

    return write


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        (FrameSampling(2, 100), [0, 5, 10, 15, 20, 25]),
        (FrameSampling(2, 6), [0, 5, 10, 15, 20, 25]),
        (FrameSampling(2, 3), [5, 15, 25]),
        (FrameSampling(0.1, 100), [0]),
        (FrameSampling(2, 3, uniform=True), [5, 15, 25]),
        (FrameSampling(2, 5, uniform=True), [3, 9, 15, 21, 27]),
        (FrameSampling(2, 30, uniform=True), list(range(30))),
        (FrameSampling(2, 1000, uniform=True), list(range(30))),
        (FrameSampling(1000, 1000), list(range(30))),
    ],
)
def test_frames_are_those_shown_at_the_sampled_instants(
    sampling: FrameSampling, expected: list[int], clip: Clip
) -> None:
    """Of 3 s at 10 Hz: by rate from the start, or in the middles of equal pieces; never twice."""
    path, info = clip(30)
    frames = sample_frames(path, info, sampling)
    assert [clips.number_in(frame.rgb) for frame in frames] == expected
    assert [frame.time_s for frame in frames] == pytest.approx([each / 10 for each in expected])


def test_a_part_is_sampled_within_it(clip: Clip) -> None:
    path, info = clip(30)
    frames = sample_frames(path, info, FrameSampling(2, 100), Span(1.0, 2.1))
    assert [clips.number_in(frame.rgb) for frame in frames] == [10, 15]


def test_evenly_spread_instants_are_the_middles_of_equal_pieces() -> None:
    even = FrameSampling(1, 4, uniform=True)
    assert frame_times_s(Span(10, 18), even) == (11, 13, 15, 17)


def test_several_questions_share_one_decode(clip: Clip) -> None:
    (first, info), (second, other) = clip(30), clip(20)
    sampled, sampling = SampledFrames(), FrameSampling(2, 100)
    frames = sampled(first, info, sampling)
    first.unlink()
    assert sampled(first, info, sampling) is frames
    assert len(sampled(second, other, sampling)) == 4
    with pytest.raises(Exception, match=r"30\.mp4"):
        sampled(first, info, sampling)


def test_another_part_or_rate_is_sampled_anew(clip: Clip) -> None:
    path, info = clip(30)
    sampled = SampledFrames(kept=3)
    asked = [(FrameSampling(2, 100), None), (FrameSampling(1, 100), None)]
    asked.append((FrameSampling(2, 100), Span(0, 1)))
    frames = [sampled(path, info, *each) for each in asked]
    assert [len(each) for each in frames] == [6, 3, 2]
    path.unlink()
    assert all(sampled(path, info, *each) is one for each, one in zip(asked, frames, strict=True))
