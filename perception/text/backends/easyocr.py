"""EasyOCR, the reader of MimeQA's section 4.3, with its official weights.

CRAFT finds words and joins them to lines; a CRNN for the script of the languages reads them. The
manifest has CRAFT and the English CRNN. For other languages EasyOCR publishes weights, which a
folder of the user's own must hold; they are checked against EasyOCR's own md5 sums.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perception import weights
from perception.errors import BadInput, MissingExtra, UnknownName, UnsupportedPlatform
from perception.limits import THREADS, check_limits, usable_threads
from perception.text.backend import Corners, box_of

__all__ = ["CHECKPOINT", "EasyOcr", "EasyOcrReader", "Options", "build"]

PACKAGE = EXTRA = "easyocr"

CHECKPOINT = "easyocr_english"
"""Name in ``checkpoints/manifest.yaml`` of CRAFT and the English CRNN."""

DETECTOR = "craft"

DEVICES = ("auto", "cpu", "cuda", "mps")

_LIMITS = {"detection_side_px": (1, 8192), "threads": THREADS}


@dataclass(frozen=True, slots=True)
class Options:
    """How EasyOCR reads.

    Args:
        languages: EasyOCR's codes, e.g. ``["ar"]`` or ``["ch_sim", "en"]``. All must be readable by
            one of its models: English goes with every other.
        folder: with EasyOCR's own model files (it keeps what it fetched in ``~/.EasyOCR/model``);
            empty = the manifest's weights, which read English.
        detection_side_px: lines are looked for in the picture scaled down to this longer side.
        device: ``auto`` (a graphics card where there is one), ``cpu``, ``cuda`` or ``mps``.
        threads: CPU threads of torch. No part of the result.

    Raises:
        BadInput: a number lies outside its limits, there is no language, or no weights for one.
        UnknownName: there is no such language or device.
    """

    languages: tuple[str, ...] = ("en",)
    folder: str = ""
    detection_side_px: int = 960
    device: str = "auto"
    threads: int = 1

    def __post_init__(self) -> None:
        if not self.languages:
            raise BadInput('EasyOCR needs at least one language, e.g. ["en"].')
        table = _published()
        for language in () if table is None else self.languages:
            if language not in table.all_lang_list:
                raise UnknownName("language of EasyOCR", language, table.all_lang_list)
        if self.languages != ("en",) and not self.folder:
            raise BadInput(
                f"EasyOCR's weights for {', '.join(self.languages)} are not in the manifest, only "
                f'those for en. Let EasyOCR fetch them (python -c "import easyocr; '
                f'easyocr.Reader({list(self.languages)})"), and set folder to where it keeps them, '
                f"e.g. ~/.EasyOCR/model."
            )
        if self.device not in DEVICES:
            raise UnknownName("device of EasyOCR", self.device, DEVICES)
        check_limits(self, _LIMITS, "EasyOCR's ")


def build(options: Options) -> EasyOcr:
    """The backend; nothing is loaded yet."""
    return EasyOcr(options)


class EasyOcr:
    """EasyOCR, not loaded."""

    def __init__(self, options: Options) -> None:
        self.options = options

    @property
    def reads(self) -> str:
        """The languages asked for."""
        return ", ".join(self.options.languages)

    @property
    def version(self) -> str:
        """``easyocr VERSION``, or that it is not installed."""
        try:
            return f"{PACKAGE} {version(PACKAGE)}"
        except PackageNotFoundError:
            return f"{PACKAGE} not installed"

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """The manifest's weights, unless the user has a folder; none without the package, which
        alone could use them."""
        is_installed = importlib.util.find_spec(PACKAGE) is not None
        return (CHECKPOINT,) if is_installed and not self.options.folder else ()

    @property
    def checkpoint_sha256(self) -> str:
        """Of the manifest's checkpoint, or of the files in the user's folder."""
        if not self.options.folder:
            return weights.sha256(CHECKPOINT)
        files = [self._folder() / each["filename"] for each in self._models()]
        found = [file for file in files if file.is_file()]
        return "+".join(_digest(file, "sha256", file.stat().st_mtime_ns) for file in found)

    @property
    def settings(self) -> Mapping[str, object]:
        """All options but the threads and where the files lie."""
        settings = asdict(self.options) | {"languages": list(self.options.languages)}
        del settings["threads"], settings["folder"]
        return settings

    def load(self) -> EasyOcrReader:
        """The models, loaded.

        Raises:
            MissingExtra: EasyOCR is not installed.
            UnsupportedPlatform: torch and torchvision do not fit each other.
            BadInput: a model file is missing or not EasyOCR's, or no model reads all the languages.
            WeightsError: the manifest's weights cannot be had.
        """
        if importlib.util.find_spec(PACKAGE) is None:
            raise MissingExtra(PACKAGE, EXTRA, "Reading screen text with the backend easyocr")
        folder = weights.path(CHECKPOINT) if not self.options.folder else self._folder()
        for model in self._models():
            _check(folder / model["filename"], model)
        return EasyOcrReader(self.options, folder)

    def _folder(self) -> Path:
        return Path(self.options.folder).expanduser()

    def _models(self) -> tuple[Mapping[str, str], ...]:
        """EasyOCR's entries for the detector and for the model that reads the languages."""
        table = _published()
        if table is None:
            return ()
        generation, name = _network(table, self.options.languages)
        return table.detection_models[DETECTOR], table.recognition_models[generation][name]


def _published() -> Any:
    """EasyOCR's table of languages, models and md5 sums, without importing EasyOCR, which would
    import torch; None where it is not installed."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    return _module(Path(spec.origin).parent / "config.py")


@functools.cache
def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("_easyocr_table", path)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_OF_ONE_LANGUAGE = {
    "th": ("gen1", "thai_g1"),
    "ch_tra": ("gen1", "zh_tra_g1"),
    "ch_sim": ("gen2", "zh_sim_g2"),
    "ja": ("gen2", "japanese_g2"),
    "ko": ("gen2", "korean_g2"),
    "ta": ("gen1", "tamil_g1"),
    "te": ("gen2", "telugu_g2"),
    "kn": ("gen2", "kannada_g2"),
}
_OF_A_SCRIPT = ("bengali", "arabic", "devanagari", "cyrillic")
"""Which network ``easyocr.Reader`` takes for which languages (EasyOCR 1.7.2)."""


def _network(table: Any, languages: tuple[str, ...]) -> tuple[str, str]:
    if languages == ("en",):
        return "gen2", "english_g2"
    for language, network in _OF_ONE_LANGUAGE.items():
        if language in languages:
            return network
    for script in _OF_A_SCRIPT:
        if set(languages) & set(getattr(table, f"{script}_lang_list")):
            return "gen1", f"{script}_g1"
    return "gen2", "latin_g2"


def _check(file: Path, model: Mapping[str, str]) -> None:
    """See that ``file`` is the one that EasyOCR publishes."""
    if not file.is_file():
        raise BadInput(
            f"EasyOCR's model file {str(file)!r} is missing. Get it from {model['url']} and unpack "
            f"it there."
        )
    found = _digest(file, "md5", file.stat().st_mtime_ns)
    if found != model["md5sum"]:
        raise BadInput(
            f"{str(file)!r} is not the file that EasyOCR publishes: its md5 is {found}, not "
            f"{model['md5sum']}. Get it again from {model['url']}."
        )


@functools.cache
def _digest(file: Path, kind: str, changed_ns: int) -> str:  # noqa: ARG001 - a changed file is hashed anew
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, kind).hexdigest()


class EasyOcrReader:
    """Finds and reads lines of text."""

    def __init__(self, options: Options, folder: Path) -> None:
        try:
            import torch
            from easyocr import Reader
        except (ImportError, OSError, RuntimeError) as error:
            raise UnsupportedPlatform(
                f"EasyOCR cannot be imported here ({error}). It needs a torch and a torchvision "
                f"that were built for each other: install both with one command, as "
                f"https://pytorch.org/get-started says."
            ) from error
        torch.set_num_threads(usable_threads(options.threads))
        self._side_px = options.detection_side_px
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self._reader: Any = Reader(
                    list(options.languages),
                    gpu={"auto": True, "cpu": False}.get(options.device, options.device),
                    model_storage_directory=str(folder),
                    user_network_directory=str(folder),
                    download_enabled=False,
                    verbose=False,
                )
            except ValueError as error:
                raise BadInput(f"EasyOCR: {' '.join(map(str, error.args))}.") from None

    def find(self, rgb: npt.NDArray[np.uint8]) -> list[Corners]:
        """The lines of text in uint8 [height, width, 3], from top to bottom."""
        if min(rgb.shape[:2]) < _SMALLEST_PX:
            return []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            upright, slanted = self._reader.detect(
                np.ascontiguousarray(rgb), canvas_size=self._side_px, reformat=False
            )
        height, width = rgb.shape[:2]
        corners = [_rectangle(*box) for box in upright[0]]
        corners += [np.asarray(quad, np.float32) for quad in slanted[0]]
        inside = [np.clip(each, 0, (width - 1, height - 1)).astype(np.float32) for each in corners]
        return sorted(inside, key=lambda each: (box_of(each)[1], box_of(each)[0]))

    def read(self, rgb: npt.NDArray[np.uint8], corners: Corners) -> tuple[str, float]:
        """The text of one line ("" when none) and the confidence in [0, 1].

        EasyOCR gives Arabic in the order of reading aloud, as Unicode wants it.
        """
        import cv2

        grey = np.asarray(cv2.cvtColor(np.ascontiguousarray(rgb), cv2.COLOR_RGB2GRAY))
        x0, y0, x1, y1 = map(int, box_of(corners))
        if x1 <= x0 or y1 <= y0:
            return "", 0.0
        is_upright = np.array_equal(corners, _rectangle(x0, x1, y0, y1))
        upright, slanted = (
            ([[x0, x1, y0, y1]], []) if is_upright else ([], [corners.astype(float).tolist()])
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = self._reader.recognize(grey, upright, slanted, reformat=False)
        if not found:
            return "", 0.0
        _, text, confidence = found[0]
        return str(text).strip(), min(1.0, max(0.0, float(confidence)))


_SMALLEST_PX = 16
"""CRAFT's map is half the picture's size: letters of fewer pixels are not seen."""


def _rectangle(x0: float, x1: float, y0: float, y1: float) -> Corners:
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], np.float32)
