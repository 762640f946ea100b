"""The sample clip against the film that it is made from."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

import av
import numpy as np
import pytest

from perception import sample, weights
from perception.errors import StorageError

pytestmark = pytest.mark.weights

CAPTION_PLATE = (slice(40, 136), slice(720, 1240))
"""Rows and columns of the plate in the picture of 1280×720."""


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample.compose(tmp_path_factory.mktemp("sample") / "sample.mp4")


class Difference(NamedTuple):
    """How one frame of the clip differs from the film's, in luma."""

    film_time_s: float
    on_plate: float
    bright_share_of_plate: float
    below_plate: float


@pytest.fixture(scope="module")
def differences(clip: Path) -> dict[float, Difference]:
    """By the clip's times; both decoded in step, so that one frame of each is held at a time."""
    found = {}
    with av.open(str(clip)) as ours, av.open(str(weights.path("sports2d_demo"))) as film:
        for frame, original in zip(ours.decode(video=0), film.decode(video=0), strict=True):
            luma = frame.reformat(format="gray").to_ndarray()
            behind = original.reformat(*sample.SIZE, format="gray").to_ndarray()
            change = np.abs(luma.astype(int) - behind)
            found[frame.time] = Difference(
                original.time,
                float(change[CAPTION_PLATE].mean()),
                float((luma[CAPTION_PLATE] > 200).mean()),
                float(change[200:].mean()),
            )
    return found


def test_every_frame_of_the_film_is_there_at_its_time(
    clip: Path, differences: dict[float, Difference]
) -> None:
    assert len(differences) == 230
    for time_s, difference in differences.items():
        assert time_s == pytest.approx(difference.film_time_s, abs=1e-9)
    with av.open(str(clip)) as container:
        assert container.start_time == 0
        shown = container.streams.video[0]
        assert (shown.width, shown.height) == sample.SIZE
        assert shown.codec_context.name == "h264"
        assert container.streams.audio[0].codec_context.name == "aac"


def test_the_caption_is_on_the_frames_of_its_span_and_on_no_other(
    differences: dict[float, Difference],
) -> None:
    for time_s, difference in differences.items():
        captioned = sample.CAPTION_SPAN.start_s <= time_s < sample.CAPTION_SPAN.end_s
        assert (difference.on_plate > 40) == captioned, time_s
        if captioned:
            assert 0.1 < difference.bright_share_of_plate < 0.5, "letters cover part of the plate"


def test_below_the_caption_the_picture_is_the_films(
    differences: dict[float, Difference],
) -> None:
    assert max(difference.below_plate for difference in differences.values()) < 6


def test_the_line_is_heard_in_its_span_and_nothing_before_and_after(clip: Path) -> None:
    with av.open(str(clip)) as container:
        frames = list(container.decode(audio=0))
    samples = np.concatenate([frame.to_ndarray()[0] for frame in frames])
    rate = frames[0].sample_rate
    loud = np.flatnonzero(np.abs(samples) > 0.005)
    start_s, end_s = frames[0].time + loud[0] / rate, frames[0].time + loud[-1] / rate
    assert start_s == pytest.approx(sample.LINE_SPAN.start_s, abs=0.03)
    assert end_s == pytest.approx(sample.LINE_SPAN.end_s, abs=0.03)
    assert 0.3 < np.abs(samples).max() <= 1.0


def test_the_same_bytes_come_out_again_and_the_cache_is_used(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    film = weights.path("sports2d_demo")
    monkeypatch.setenv("CUELIGHT_CACHE", str(tmp_path / "cache"))
    there = weights.location("sports2d_demo")
    there.parent.mkdir(parents=True)
    there.write_bytes(film.read_bytes())

    fresh = sample.compose()

    assert hashlib.sha256(fresh.read_bytes()).digest() == hashlib.sha256(clip.read_bytes()).digest()
    written = fresh.stat().st_mtime_ns
    assert sample.compose(tmp_path / "copy.mp4").read_bytes() == fresh.read_bytes()
    assert sample.compose().stat().st_mtime_ns == written


def test_a_place_that_cannot_be_written_is_a_storage_error(clip: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        sample.compose(tmp_path / "file" / "sample.mp4")
    assert clip.is_file()
