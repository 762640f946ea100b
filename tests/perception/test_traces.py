"""Traces survive the file, compact and exact to what they promise."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

from perception import traces
from perception.errors import BadInput, StorageError
from perception.recognizer import AudioChunk
from perception.skeleton.people import PersonTrack
from perception.traces import TextBox, pose_traces, read_poses, read_text_boxes, text_box_traces
from perception.waveform import WaveformPeaks, read_waveform


def some_person(id: int, frames: int, seed: int) -> PersonTrack:
    rng = np.random.default_rng(seed)
    return PersonTrack(
        id=id,
        times_s=np.sort(rng.uniform(0, 100, frames)),
        keypoints=rng.uniform(-200, 4000, (frames, 17, 2)).astype(np.float32),
        scores=rng.uniform(0, 1, (frames, 17)).astype(np.float32),
        observed=rng.random(frames) > 0.5,
        score=float(rng.uniform(0, 1)),
    )


@given(
    hnp.arrays(
        hnp.array_dtypes(hnp.integer_dtypes() | hnp.floating_dtypes(), max_size=1).map(
            lambda dtype: dtype[0]
        ),
        hnp.array_shapes(min_dims=1, max_dims=3, min_side=0),
    )
)
def test_any_array_comes_back_as_it_was(tmp_path_factory: Any, array: Any) -> None:
    path = tmp_path_factory.mktemp("traces") / "clip.traces.npz"
    traces.save(path, {"action/some thing": array, "speech/x": np.array(["é", "日本"])})
    back: Any = traces.load(path)
    assert set(back) == {"action/some thing", "speech/x"}
    assert back["action/some thing"].dtype == array.dtype
    np.testing.assert_array_equal(back["action/some thing"], array)
    assert back["speech/x"].tolist() == ["é", "日本"]


def test_nothing_to_draw_is_an_empty_file_that_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "clip.traces.npz"
    traces.save(path, {})
    assert traces.load(path) == {}


def test_the_same_traces_make_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = pose_traces("action", [some_person(1, 40, seed=1)])
    traces.save(tmp_path / "one.npz", stored)
    monkeypatch.setattr("time.localtime", lambda *_: (2001, 2, 3, 4, 5, 6, 0, 0, 0))
    traces.save(tmp_path / "other.npz", stored)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "other.npz").read_bytes()


def test_poses_come_back_within_an_eighth_of_a_pixel(tmp_path: Path) -> None:
    people = (some_person(1, 40, seed=1), some_person(2, 25, seed=2))
    path = tmp_path / "clip.traces.npz"
    traces.save(path, pose_traces("action", people))
    back = read_poses("action", traces.load(path))
    assert [person.id for person in back] == [1, 2]
    for was, now in zip(people, back, strict=True):
        np.testing.assert_array_equal(now.times_s, was.times_s)
        np.testing.assert_array_equal(now.observed, was.observed)
        np.testing.assert_allclose(now.keypoints, was.keypoints, atol=0.1251)
        np.testing.assert_allclose(now.scores, was.scores, atol=0.5 / 255 + 1e-6)
        assert now.score == pytest.approx(was.score, abs=0.5 / 255 + 1e-6)
        assert now.keypoints.dtype == np.float32


def test_joints_far_outside_are_put_at_the_limit() -> None:
    person = some_person(1, 1, seed=0)
    person.keypoints[0, 0] = [1e6, -1e6]
    (back,) = read_poses("action", pose_traces("action", [person]))
    assert back.keypoints[0, 0].tolist() == [8191.75, -8192.0]


def test_tracks_are_kept_apart() -> None:
    both = {**pose_traces("action", [some_person(1, 3, 0)]), **pose_traces("motion", ())}
    assert len(read_poses("action", both)) == 1
    assert read_poses("motion", both) == ()
    assert read_poses("speech", both) == ()


def test_text_boxes_come_back() -> None:
    corners = np.array([[10, 10], [50.25, 10], [50.25, 20], [10, 20]], dtype=np.float32)
    boxes = [TextBox("screen_text-1", 1.5, corners), TextBox("screen_text-2", 2.5, corners + 5)]
    back = read_text_boxes("screen_text", text_box_traces("screen_text", boxes))
    assert [(box.cue, box.time_s) for box in back] == [
        ("screen_text-1", 1.5),
        ("screen_text-2", 2.5),
    ]
    np.testing.assert_array_equal(back[1].corners, corners + 5)


def test_the_waveform_keeps_the_extremes_of_every_fiftieth_of_a_second() -> None:
    """320 samples a stretch: a ramp in the first, silence in the second, a click in the third."""
    samples = np.zeros(960, dtype=np.float32)
    samples[:320] = np.linspace(-0.5, 0.25, 320)
    samples[700] = 1.5
    peaks = WaveformPeaks()
    for start in range(0, 960, 100):
        peaks.feed(AudioChunk(2.0 + start / 16_000, samples[start : start + 100]))
    outline = read_waveform("speech", peaks.traces("speech"))
    assert outline is not None
    assert (outline.start_s, outline.rate_hz) == (2.0, 50.0)
    np.testing.assert_allclose(outline.peaks, [[-0.5, 0.25], [0, 0], [0, 1]], atol=0.5 / 127)


def test_a_gap_in_the_sound_is_silence() -> None:
    peaks = WaveformPeaks()
    peaks.feed(AudioChunk(0.0, np.full(320, 0.5, dtype=np.float32)))
    peaks.feed(AudioChunk(1.0, np.full(320, 0.5, dtype=np.float32)))
    outline = read_waveform("speech", peaks.traces("speech"))
    assert outline is not None
    loud = np.flatnonzero(outline.peaks[:, 1] > 0.4)
    assert loud.tolist() == [0, 50]
    assert len(outline.peaks) == 51


def test_no_sound_leaves_no_waveform() -> None:
    assert WaveformPeaks().traces("speech") == {}
    assert read_waveform("speech", {}) is None


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no traces file .*gone\.npz"):
        traces.load(tmp_path / "gone.npz")


@pytest.mark.parametrize("name", ["text.npz", "object.npz", "array.npz"])
def test_what_holds_no_traces_is_told_in_words_of_ours(tmp_path: Path, name: str) -> None:
    np.savez(tmp_path / "object.npz", a=np.array([{}], object))
    with (tmp_path / "array.npz").open("wb") as file:
        np.save(file, np.zeros(3))
    (tmp_path / "text.npz").write_text("no zip at all")
    reason = "its 'a' holds Python objects" if name == "object.npz" else "it is no zip file"
    with pytest.raises(BadInput, match=reason) as caught:
        traces.load(tmp_path / name)
    assert "pickle" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04broken"])
def test_a_broken_file_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "clip.traces.npz"
    path.write_bytes(content)
    with pytest.raises(BadInput, match="not an intact traces file"):
        traces.load(path)


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.95])
def test_a_truncated_file_is_one_sentence(tmp_path: Path, kept: float) -> None:
    path = tmp_path / "clip.traces.npz"
    traces.save(path, pose_traces("action", [some_person(1, 30, 0)]))
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(BadInput, match="not an intact traces file"):
        traces.load(path)


def test_a_file_that_unpacks_to_more_than_memory_holds_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "clip.traces.npz"
    traces.save(path, {"a/zeros": np.zeros(2_000_000, np.uint8)})
    assert path.stat().st_size < 10_000
    assert len(traces.load(path)["a/zeros"]) == 2_000_000
    monkeypatch.setattr(traces, "MAX_BYTES", 1 << 20)
    with pytest.raises(BadInput, match="unpacks to more than 1 MB"):
        traces.load(path)


def test_pickled_objects_are_neither_written_nor_read(tmp_path: Path) -> None:
    path = tmp_path / "clip.traces.npz"
    with pytest.raises(BadInput, match="Python objects"):
        traces.save(path, {"action/x": np.array([{}], dtype=object)})
    assert not path.exists()
    np.savez(path, x=np.array([{}], dtype=object))
    with pytest.raises(BadInput, match="not an intact traces file"):
        traces.load(path)


@pytest.mark.parametrize("name", ["", "/etc/x", "a/../../x", "a\\b"])
def test_names_that_are_paths_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="name for a trace"):
        traces.save(tmp_path / "clip.traces.npz", {name: np.zeros(1)})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("keypoints", None),
        ("keypoints", np.zeros((3, 16, 2), np.int16)),
        ("scores", np.zeros((2, 17), np.uint8)),
        ("time", np.zeros(7)),
    ],
)
def test_poses_that_do_not_fit_together_are_refused(name: str, array: Any) -> None:
    stored = pose_traces("action", [some_person(1, 3, 0)])
    del stored[f"action/poses/{name}"]
    if array is not None:
        stored[f"action/poses/{name}"] = array
    with pytest.raises(BadInput, match="action/poses"):
        read_poses("action", stored)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("boxes/time", np.array([np.nan])),
        ("boxes/time", np.array([1e300])),
        ("boxes/time", np.array(["2020-01-01"], dtype="datetime64[s]")),
        ("boxes/time", np.array(["soon"])),
        ("boxes/time", np.zeros(1, dtype="V8")),
        ("boxes/corners", np.zeros((1, 4, 2), dtype=np.complex64)),
        ("boxes/cue", np.array([7])),
    ],
)
def test_text_boxes_of_something_else_are_refused(name: str, array: Any) -> None:
    box = TextBox("t-1", 0.5, np.zeros((4, 2), np.float32))
    stored = {**text_box_traces("t", [box]), f"t/{name}": array}
    with pytest.raises(BadInput, match=f"t/{name} does not hold (texts|numbers up to 1e\\+09)"):
        read_text_boxes("t", stored)


@pytest.mark.parametrize("name", ["rate", "start"])
def test_a_waveform_without_a_time_is_refused(name: str) -> None:
    peaks = WaveformPeaks()
    peaks.feed(AudioChunk(0.0, np.zeros(1600, np.float32)))
    stored = {**peaks.traces("speech"), f"speech/waveform/{name}": np.array([np.inf])}
    with pytest.raises(BadInput, match=name):
        read_waveform("speech", stored)


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "clip.traces.npz"
    traces.save(path, {"action/x": np.arange(3)})

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("numpy.lib.format.write_array", full)
    with pytest.raises(StorageError, match="No space left"):
        traces.save(path, {"action/x": np.arange(4)})
    monkeypatch.undo()
    assert traces.load(path)["action/x"].tolist() == [0, 1, 2]
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
