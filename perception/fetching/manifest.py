"""``checkpoints/manifest.yaml``: what every weight is, and where it can be had. Strict."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perception import plugins
from perception.errors import BadInput, UnknownName
from perception.fetching.source import Source

__all__ = [
    "Checkpoint",
    "Measured",
    "ReliabilityBin",
    "ScorePoint",
    "Wanted",
    "WeightFile",
    "read_manifest",
]

SOURCES = "perception.fetching.sources"


@dataclass(frozen=True, slots=True)
class WeightFile:
    """One file of a checkpoint.

    Args:
        name: file name.
        sha256: of its bytes, 64 hex digits; where no more is published, at least its first 8.
        size: bytes; 0 where it is not published.
        sources: tried in this order.
    """

    name: str
    sha256: str
    size: int
    sources: tuple[Source, ...]

    def has_content(self, sha256: str, size: int) -> bool:
        """Whether bytes of that sha256 and size are this file, as far as is known of it."""
        return sha256.startswith(self.sha256) and self.size in {0, size}


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """``n`` scores of one tenth of [0, 1]: their mean, and the share that is right."""

    n: int
    confidence: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class ScorePoint:
    """A point of an isotonic map."""

    score: float
    probability: float


@dataclass(frozen=True, slots=True)
class Measured:
    """How a checkpoint's scores become probabilities, and how well that holds.

    Args:
        method: ``identity`` (they are probabilities already), ``temperature`` or ``isotonic``.
        measured_on: which data, of which nothing was used for training or fitting.
        ece: expected calibration error of the probabilities, 15 bins.
        reliability: the probabilities against the truth.
        temperature, points: of the method.
    """

    method: str
    measured_on: str
    ece: float
    reliability: tuple[ReliabilityBin, ...]
    temperature: float = 1.0
    points: tuple[ScorePoint, ...] = ()


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One entry of the manifest.

    Args:
        name: how it is asked for.
        task: what it does, e.g. ``"speech recognition"``.
        licence: SPDX identifier, or a sentence where there is none.
        origin: who made it, and where it is published.
        card: its model card, below ``checkpoints/``.
        files: one, or several that a library wants in one folder.
        default: whether the default configuration uses it.
        calibration: of its scores; None = nobody has compared them with the truth.
    """

    name: str
    task: str
    licence: str
    origin: str
    card: str
    files: tuple[WeightFile, ...]
    default: bool = True
    calibration: Measured | None = None

    @property
    def size(self) -> int:
        """Bytes of all files, as far as they are known."""
        return sum(file.size for file in self.files)

    @property
    def sha256(self) -> str:
        """Of the file; of the sorted lines ``SHA256  NAME`` when there are several."""
        if len(self.files) == 1:
            return self.files[0].sha256
        lines = sorted(f"{file.sha256}  {file.name}\n" for file in self.files)
        return hashlib.sha256("".join(lines).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file to be had, and where to put it."""

    checkpoint: str
    file: WeightFile
    target: Path


@functools.lru_cache(maxsize=8)
def read_manifest(path: Path) -> Mapping[str, Checkpoint]:
    """Checkpoints by name, in the order of the manifest.

    Raises:
        BadInput: it cannot be read, or a value has the wrong type.
        UnknownName: a key that does not exist; names the nearest.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), loader)  # noqa: S506 - a safe one
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadInput(f"Cannot read the manifest {str(path)!r}: {error}") from error
    entries = _mapping(document, path.name)
    _only(entries, ["checkpoints"], path.name)
    found = _list(entries.get("checkpoints"), "checkpoints")
    checkpoints = [_checkpoint(raw, f"checkpoints[{at}]") for at, raw in enumerate(found)]
    names = [checkpoint.name for checkpoint in checkpoints]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"The manifest has the checkpoint {name!r} more than once.")
    return {checkpoint.name: checkpoint for checkpoint in checkpoints}


def _checkpoint(raw: object, where: str) -> Checkpoint:
    fields = dict(_mapping(raw, where))
    where = f"checkpoint {fields['name']!r}" if isinstance(fields.get("name"), str) else where
    files = tuple(
        _file(file, where) for file in _list(fields.pop("files", None), f"{where}: files")
    )
    calibration = None
    if (measured := fields.pop("calibration", None)) is not None:
        calibration = _fill(
            Measured, _mapping(measured, f"{where}: calibration"), f"{where}: calibration"
        )
    checkpoint: Checkpoint = _fill(Checkpoint, fields, where, files=files, calibration=calibration)
    if not re.fullmatch(r"[a-z0-9_]+", checkpoint.name):
        raise BadInput(f"{where}: a name has only lower-case letters, digits and underscores.")
    return checkpoint


def _file(raw: object, where: str) -> WeightFile:
    fields = dict(_mapping(raw, f"{where}: files"))
    where = f"{where}, file {fields.get('name')!r}"
    sources = tuple(_source(each, where) for each in _list(fields.pop("sources", None), where))
    file: WeightFile = _fill(WeightFile, fields, where, sources=sources)
    if not re.fullmatch(r"[0-9a-f]{8,64}", file.sha256):
        raise BadInput(
            f"{where}: sha256 is 64 lower-case hex digits, or at least the first 8 of them, not "
            f"{file.sha256!r}."
        )
    if Path(file.name).name != file.name:
        raise BadInput(f"{where}: a file name has no folder in it.")
    return file


def _source(raw: object, where: str) -> Source:
    fields = dict(_mapping(raw, f"{where}: sources"))
    kind = fields.pop("kind", None)
    if not isinstance(kind, str):
        raise BadInput(f"{where}: a source needs its kind: {', '.join(plugins.names(SOURCES))}.")
    plugin = plugins.take(SOURCES, kind)
    where = f"{where}, source {kind!r}"
    try:
        source: Source = plugin.build(_fill(plugin.Options, fields, where))
    except BadInput as error:
        raise BadInput(f"{where}: {str(error).removeprefix(f'{where}: ')}") from None
    return source


def _fill(kind: type[Any], raw: Mapping[str, object], where: str, **ready: object) -> Any:
    """An instance of the dataclass ``kind`` from ``raw`` and the fields that are ``ready``."""
    hints = typing.get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind) if field.name not in ready}
    _only(raw, list(fields), where)
    for name, field in fields.items():
        if name not in raw and field.default is dataclasses.MISSING:
            raise BadInput(f"{where}: the key {name!r} is missing.")
    values = {name: _value(hints[name], value, f"{where}: {name}") for name, value in raw.items()}
    return kind(**values, **ready)


def _value(hint: Any, value: object, where: str) -> object:
    if typing.get_origin(hint) is tuple:
        (of, _) = typing.get_args(hint)
        return tuple(_fill(of, _mapping(each, where), where) for each in _list(value, where))
    if type(value) is not hint:
        raise BadInput(f"{where} must be of type {hint.__name__}, not {value!r}.")
    return value


def _only(raw: Mapping[str, object], known: list[str], where: str) -> None:
    for key in raw:
        if key not in known:
            raise UnknownName(f"key of {where} named", str(key), known)


def _mapping(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise BadInput(f"{where} must be a mapping of keys to values, not {value!r}.")
    return value


def _list(value: object, where: str) -> list[object]:
    if not isinstance(value, list) or not value:
        raise BadInput(f"{where} must be a list that is not empty, not {value!r}.")
    return value
