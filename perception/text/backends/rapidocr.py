"""RapidOCR with the PP-OCRv6 small models that its wheel carries, on ONNX Runtime."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import logging
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perception.errors import UnknownName, UnsupportedPlatform
from perception.limits import THREADS, check_limits, usable_threads
from perception.text.backend import Corners
from perception.text.languages import LATIN, SCRIPTS, is_in_script

__all__ = ["Options", "RapidOcr", "RapidOcrReader", "build"]

PACKAGE = "rapidocr"

_MODELS = ("PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx")
"""Finds lines; reads lines."""

_LIMITS = {"detection_side_px": (1, 8192), "threads": THREADS}


@dataclass(frozen=True, slots=True)
class Options:
    """How RapidOCR reads.

    Args:
        languages: codes, e.g. ``["en", "zh"]``; texts in the scripts of none of them are dropped.
            Empty = all that the model reads: Chinese, Japanese, English and some 45 other languages
            in Latin letters.
        detection_side_px: lines are looked for in the picture scaled down to this longer side; 480
            halves the time and misses small print, 960 more than doubles it (80 ms a picture at 640
            on one core).
        threads: CPU threads; 1 is best beside other models. No part of the result.

    Raises:
        BadInput: a number lies outside its limits.
        UnknownName: there is no such language.
    """

    languages: tuple[str, ...] = ()
    detection_side_px: int = 640
    threads: int = 1

    def __post_init__(self) -> None:
        for language in self.languages:
            if language not in SCRIPTS:
                raise UnknownName("language of RapidOCR", language, SCRIPTS)
        check_limits(self, _LIMITS, "RapidOCR's ")


def build(options: Options) -> RapidOcr:
    """The backend; nothing is loaded yet."""
    return RapidOcr(options)


class RapidOcr:
    """RapidOCR, not loaded."""

    checkpoints: tuple[str, ...] = ()

    def __init__(self, options: Options) -> None:
        self.options = options

    @property
    def reads(self) -> str:
        """The languages asked for, or all that there are."""
        return (
            ", ".join(self.options.languages)
            or f"Chinese, Japanese, English and {len(LATIN) - 1} other languages in Latin letters"
        )

    @property
    def version(self) -> str:
        """``rapidocr VERSION``, or that it is not installed."""
        try:
            return f"{PACKAGE} {version(PACKAGE)}"
        except PackageNotFoundError:
            return f"{PACKAGE} not installed"

    @property
    def checkpoint_sha256(self) -> str:
        """Of the models' files in the package.

        Reads 31 MB once per process (0.1 s), without importing RapidOCR.
        """
        return "+".join(
            _sha256(path, path.stat().st_mtime_ns) for path in _model_paths() if path.is_file()
        )

    @property
    def settings(self) -> Mapping[str, object]:
        """All options but the threads."""
        settings = asdict(self.options) | {"languages": list(self.options.languages)}
        del settings["threads"]
        return settings

    def load(self) -> RapidOcrReader:
        """The models, loaded.

        Raises:
            UnsupportedPlatform: RapidOCR or ONNX Runtime cannot be imported, or a model is missing.
        """
        return RapidOcrReader(self.options)


def _model_paths() -> tuple[Path, ...]:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return ()
    return tuple(Path(spec.origin).parent / "models" / name for name in _MODELS)


@functools.cache
def _sha256(path: Path, changed_ns: int) -> str:  # noqa: ARG001 - a changed file is hashed anew
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class RapidOcrReader:
    """Finds and reads lines of text.

    ONNX Runtime keeps its memory arena, which RapidOCR switches off: without it the heap
    fragments, and memory grew by 9 MB a reading to 800 MB after a minute; with it 300 MB stay 300.
    """

    def __init__(self, options: Options) -> None:
        paths = _model_paths()
        try:
            with _read_once():
                from rapidocr import RapidOCR
        except (ImportError, OSError) as error:
            raise _unusable(f"cannot be imported here ({error})") from error
        if missing := [path.name for path in paths if not path.is_file()]:
            raise _unusable(f"lacks its model {missing[0]}")
        logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
        self._languages = options.languages
        self._engine: Any = RapidOCR(
            params={
                "Global.log_level": "critical",
                "Global.use_preprocess_img": False,
                "Global.text_score": 0.0,
                "EngineConfig.onnxruntime.intra_op_num_threads": usable_threads(options.threads),
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,
                "Det.model_path": str(paths[0]),
                "Det.limit_type": "max",
                "Det.limit_side_len": options.detection_side_px,
                "Rec.model_path": str(paths[1]),
            }
        )

    def find(self, rgb: npt.NDArray[np.uint8]) -> list[Corners]:
        """The lines of text in uint8 [height, width, 3], from top to bottom."""
        if min(rgb.shape[:2]) < _SMALLEST_PX:
            return []
        found = self._engine(_bgr(rgb), use_det=True, use_cls=False, use_rec=False)
        boxes = getattr(found, "boxes", None)
        return [] if boxes is None else [np.asarray(box, np.float32) for box in boxes]

    def read(self, rgb: npt.NDArray[np.uint8], corners: Corners) -> tuple[str, float]:
        """The text of one line ("" when none) and the confidence in [0, 1]."""
        from rapidocr.utils.process_img import get_rotate_crop_image

        crop = get_rotate_crop_image(_bgr(rgb), corners.copy())
        if min(crop.shape[:2]) < 1:
            return "", 0.0
        result = self._engine(
            np.ascontiguousarray(crop), use_det=False, use_cls=False, use_rec=True
        )
        if not result.txts:
            return "", 0.0
        text = str(result.txts[0]).strip()
        if not is_in_script(text, self._languages):
            return "", 0.0
        return text, min(1.0, max(0.0, float(result.scores[0])))


@contextlib.contextmanager
def _read_once() -> Iterator[None]:
    """Let RapidOCR, which reads its table of models three times when imported, read it once.

    A file of 85 kB in pure Python: 0.3 s each time.
    """
    from omegaconf import OmegaConf

    library: Any = OmegaConf
    load = library.load
    library.load = staticmethod(functools.cache(load))
    try:
        yield
    finally:
        library.load = staticmethod(load)


_SMALLEST_PX = 16
"""The detector's grid is 32 pixels: it sees nothing in a picture of half of that."""


def _bgr(rgb: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(rgb[:, :, ::-1])


def _unusable(why: str) -> UnsupportedPlatform:
    return UnsupportedPlatform(
        f"Reading screen text needs the package {PACKAGE} (3.10 or later, with onnxruntime and "
        f"OpenCV), which {why}. Install it with: pip install --force-reinstall {PACKAGE}, or leave "
        f"screen text out (--only action --only speech)."
    )
