"""What holds of every library that reads text: one suite for all of them."""

from __future__ import annotations

import functools
import importlib.util
import re
import subprocess
import sys
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from perception import plugins
from perception.cue import Status, VideoInfo
from perception.errors import BadInput, MissingExtra, UserError
from perception.recognizer import Frame
from perception.recognizers.screen_text import Options, build
from perception.text.backend import BACKENDS, Corners, TextBackend, TextReader, box_of
from perception.text.reading import TextRules, is_text
from tests.reasoning import torchvision_operators

Picture = npt.NDArray[np.uint8]

NAMES = ("easyocr", "rapidocr")
WIDTH, HEIGHT = 480, 270
EXTRAS = {"easyocr": "easyocr"}

pytestmark = pytest.mark.weights


def backend(name: str, **options: Any) -> TextBackend:
    plugin = plugins.take(BACKENDS, name)
    made: TextBackend = plugin.build(plugin.Options(**options))
    return made


@functools.cache
def loaded(name: str) -> TextReader:
    """One for all tests: the models load once."""
    return backend(name).load()


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def reader(name: str) -> TextReader:
    needs(name)
    return loaded(name)


def needs(name: str) -> None:
    """Skip where the backend's extra is not installed."""
    if name in EXTRAS:
        extra = f"needs the extra: {EXTRAS[name]}"
        torchvision_operators.define(pytest.importorskip("torch", reason=extra))
        pytest.importorskip(name, reason=extra)


def wall() -> Picture:
    """A plain wall in soft light."""
    light = np.linspace(150, 200, WIDTH, dtype=np.uint8)
    return np.repeat(np.tile(light, (HEIGHT, 1))[:, :, None], 3, axis=2)


def write(picture: Picture, text: str, left: int, base: int) -> Picture:
    """Black letters 24 pixels high."""
    written = picture.copy()
    place = (text, (left, base), cv2.FONT_HERSHEY_DUPLEX, 1.1)
    cv2.putText(written, *place, (20, 20, 20), 2, cv2.LINE_AA)
    return written


def read_all(reader: TextReader, picture: Picture) -> list[tuple[str, float, Corners]]:
    return [(*reader.read(picture, corners), corners) for corners in reader.find(picture)]


def bare(text: str) -> str:
    return re.sub(r"\W", "", text).casefold()


def test_all_backends_are_tested() -> None:
    assert tuple(plugins.names(BACKENDS)) == NAMES


def test_lines_are_found_from_top_to_bottom_where_they_are_and_read(reader: TextReader) -> None:
    picture = write(write(wall(), "GARDEN", 60, 200), "WINTER", 250, 80)
    picture.flags.writeable = False
    (upper, sure, above), (lower, also_sure, below) = read_all(reader, picture)
    assert (bare(upper), bare(lower)) == ("winter", "garden")
    assert 0.6 < min(sure, also_sure) <= max(sure, also_sure) <= 1
    (wide, high), _ = cv2.getTextSize("WINTER", cv2.FONT_HERSHEY_DUPLEX, 1.1, 2)
    assert box_of(above) == pytest.approx((250, 80 - high, 250 + wide, 80), abs=16)
    assert box_of(below)[:2] == pytest.approx((60, 200 - high), abs=16)
    assert {each.dtype for each in (above, below)} == {np.dtype(np.float32)}
    assert above.shape == below.shape == (4, 2)


def test_corners_go_clockwise_from_the_upper_left(reader: TextReader) -> None:
    [corners] = reader.find(write(wall(), "GARDEN", 60, 200))
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = corners
    assert x0 < x1
    assert x3 < x2
    assert y0 < y3
    assert y1 < y2


def test_a_slanted_line_is_read(reader: TextReader) -> None:
    turn = cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 2), 10, 1)
    level = write(wall(), "NO PARKING", 120, 150)
    slanted = cv2.warpAffine(level, turn, (WIDTH, HEIGHT), borderMode=cv2.BORDER_REPLICATE)
    words = "".join(bare(text) for text, _, _ in read_all(reader, np.asarray(slanted, np.uint8)))
    assert words in {"noparking", "parkingno"}


def test_the_same_picture_gives_the_same_reading(reader: TextReader) -> None:
    picture = write(wall(), "TICKETS", 100, 150)
    (text, confidence, corners), (again, as_sure, there) = (
        read_all(reader, picture)[0] for _ in range(2)
    )
    assert (again, as_sure) == (text, confidence)
    np.testing.assert_array_equal(there, corners)


@pytest.mark.parametrize(
    "picture",
    [wall(), np.zeros((HEIGHT, WIDTH, 3), np.uint8), np.full((HEIGHT, WIDTH, 3), 255, np.uint8)],
    ids=["wall", "black", "white"],
)
def test_where_no_line_is_none_is_found(reader: TextReader, picture: Picture) -> None:
    assert reader.find(picture) == []


def test_noise_holds_nothing_that_is_believed(reader: TextReader) -> None:
    noise = np.random.default_rng(5).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    found = read_all(reader, noise)
    assert [text for text, sure, _ in found if is_text(text, sure, TextRules())] == []


@pytest.mark.parametrize("shape", [(1, 1), (1, 400), (400, 1), (8, 8), (31, 33)])
def test_a_picture_of_any_size_is_taken(reader: TextReader, shape: tuple[int, int]) -> None:
    assert reader.find(np.full((*shape, 3), 90, np.uint8)) == []


def test_a_box_at_the_border_or_without_area_is_taken(reader: TextReader) -> None:
    picture = write(wall(), "EDGE", WIDTH - 70, HEIGHT - 4)
    for corners in (
        [[WIDTH - 80, HEIGHT - 40], [WIDTH, HEIGHT - 40], [WIDTH, HEIGHT], [WIDTH - 80, HEIGHT]],
        [[10, 10], [10, 10], [10, 10], [10, 10]],
        [[10, 10], [60, 10], [60, 10], [10, 10]],
    ):
        text, confidence = reader.read(picture, np.array(corners, np.float32))
        assert isinstance(text, str)
        assert 0 <= confidence <= 1


def test_a_caption_becomes_a_span(name: str) -> None:
    needs(name)
    recognizer = build(Options(rate_hz=1, look_rate_hz=2, backend=name))
    info = VideoInfo("clip", "0" * 64, 0.0, 3.0, WIDTH, HEIGHT, 2.0, True, False)
    session = recognizer.start(info)
    for time_s in (0.0, 0.5, 1.0, 1.5, 2.0, 2.5):
        picture = write(wall(), "MIND THE STEP", 90, 150) if 0.5 <= time_s < 2 else wall()
        session.feed([Frame(time_s, picture, 1.0, 0.5)])
    track = session.finish().track
    assert track.status is Status.COMPLETE
    [cue] = track.cues
    assert bare(cue.text) == "mindthestep"
    assert (cue.span.start_s, cue.span.end_s) == (0.5, 2.0)
    assert cue.attributes["readings"] == 1


def test_nothing_seen_says_what_could_have_been_read(name: str) -> None:
    needs(name)
    recognizer = build(Options(backend=name))
    session = recognizer.start(VideoInfo("clip", "0" * 64, 0.0, 1.0, WIDTH, HEIGHT, 2.0))
    session.feed([Frame(0.0, wall())])
    track = session.finish().track
    assert track.status is Status.NO_SIGNAL
    assert f"searched for text in {recognizer.backend.reads})" in track.notes[0]


def test_what_reads_is_pinned_without_importing_it(name: str) -> None:
    code = (
        "import sys; from perception.recognizers.screen_text import *; "
        f"r = build(Options(backend={name!r})); s = r.source; "
        "print(s.version, s.checkpoint_sha256, r.weights, sep='\\n'); "
        "print(sorted({'rapidocr', 'onnxruntime', 'cv2', 'easyocr', 'torch'} & sys.modules.keys()))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    version, sha256, checkpoints, imported = ran.stdout.splitlines()
    assert re.match(rf"{name} (\d+\.\d|not installed)", version)
    assert {len(each) for each in sha256.split("+")} == {64}
    has_weights = name == "easyocr" and "not installed" not in version
    assert checkpoints == ("('easyocr_english',)" if has_weights else "()")
    assert imported == "[]"


def test_threads_are_no_part_of_the_result_and_the_rest_is(name: str) -> None:
    def source(**options: Any) -> Any:
        made = plugins.take(BACKENDS, name).Options(**options)
        return build(Options(backend=name, backends={name: made})).source

    assert source(threads=2) == source()
    assert source(detection_side_px=320) != source()
    assert source() != build(Options(backend=next(each for each in NAMES if each != name))).source


def test_options_are_checked(name: str) -> None:
    for field, value in (("detection_side_px", 0), ("threads", 100_000)):
        with pytest.raises(BadInput, match=rf"'s {field} is {value}; give a number from"):
            backend(name, **{field: value})
    if name not in EXTRAS or importlib.util.find_spec(name) is not None:
        with pytest.raises(UserError, match=r"language of .* 'klingon'.*Available: .*en.*"):
            backend(name, languages=("klingon",))


def test_languages_of_rapidocr_drop_other_scripts() -> None:
    latin, chinese = (backend("rapidocr", languages=(each,)).load() for each in ("fr", "zh"))
    picture = write(wall(), "GARDEN", 60, 200)
    assert [bare(text) for text, _, _ in read_all(latin, picture)] == ["garden"]
    assert [bare(text) for text, _, _ in read_all(chinese, picture)] == [""]


def test_easyocr_says_where_the_weights_of_another_language_come_from(tmp_path: Any) -> None:
    with pytest.raises(
        BadInput, match=r"for ar are not in the manifest.*Reader\(\['ar'\]\).*folder"
    ):
        backend("easyocr", languages=("ar",))
    with pytest.raises(BadInput, match="at least one language"):
        backend("easyocr", languages=())
    with pytest.raises(
        UserError, match=r"device of EasyOCR 'gpu'.*Available: auto, cpu, cuda, mps"
    ):
        backend("easyocr", device="gpu")
    needs("easyocr")
    arabic = backend("easyocr", languages=("ar",), folder=str(tmp_path))
    assert arabic.checkpoints == ()
    with pytest.raises(BadInput, match=r"craft_mlt_25k\.pth' is missing\. Get it from https://git"):
        arabic.load()
    (tmp_path / "craft_mlt_25k.pth").write_bytes(b"something else")
    with pytest.raises(BadInput, match=r"craft_mlt_25k\.pth' is not the file.*its md5 is .*Get it"):
        arabic.load()


def test_easyocr_without_its_package_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda each, *rest: None if each == "easyocr" else find(each, *rest),
    )
    recognizer = build(Options(backend="easyocr"))
    assert recognizer.weights == ()
    assert recognizer.source.version.startswith(("easyocr 1.", "easyocr not installed"))
    with pytest.raises(MissingExtra, match=r"pip install 'cuelight\[easyocr\]'"):
        recognizer.start(VideoInfo("clip", "0" * 64, 0.0, 1.0, WIDTH, HEIGHT, 2.0))
