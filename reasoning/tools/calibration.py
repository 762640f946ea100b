"""Which map turns a track's scores into probabilities: the user's own, else the manifest's.

A user's calibrations lie in ``CUELIGHT_HOME/calibrations``, one JSON file for each recognizer and
checkpoint that it was fitted for; another checkpoint is another recognizer.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path

from fusion.calibration import Bin, Calibration
from fusion.policy import Calibrations, ScoreMap
from perception import strict_json, weights
from perception.cue import CueTrack, Origin, Source
from perception.errors import BadInput, UnknownName
from perception.fetching.manifest import Measured
from perception.strict_json import Fields
from perception.text_file import read_text
from perception.whole import write_whole
from reasoning.home import home_folder

__all__ = [
    "Fitted",
    "all_kept",
    "calibrations",
    "fingerprint",
    "folder",
    "forget",
    "keep",
    "kept",
    "pinned",
    "shipped_for",
]

SCHEMA = "cuelight.calibration/1"


@dataclass(frozen=True, slots=True)
class Fitted:
    """A calibration with what it was fitted for and how well it holds.

    Args:
        recognizer: ``Source.name``.
        checkpoint_sha256: ``Source.checkpoint_sha256``; of a recognizer without weights its
            version.
        calibration: the map.
        measured_on: in words.
        n: labelled cues.
        ece_before: expected calibration error of the raw scores.
        ece: of the probabilities, by maps that were fitted without the cue that they are for.
        reliability: of those probabilities.
    """

    recognizer: str
    checkpoint_sha256: str
    calibration: Calibration
    measured_on: str
    n: int
    ece_before: float
    ece: float
    reliability: tuple[Bin, ...]

    @property
    def is_better(self) -> bool:
        """Whether the probabilities are at least as near to the truth as the raw scores were."""
        return self.ece <= self.ece_before


def pinned(source: Source) -> str:
    """What a calibration is good for: the checkpoints, or a version where there are none."""
    return source.checkpoint_sha256 or source.version


def folder() -> Path:
    """Where a user's calibrations lie; it may not exist yet."""
    return home_folder() / "calibrations"


def keep(fitted: Fitted) -> Path:
    """Write a user's calibration, in the place of an earlier one for the same checkpoint.

    Raises:
        StorageError: the folder cannot be written.
    """
    document = {"schema": SCHEMA, **asdict(fitted)}
    document["calibration"]["points"] = [
        {"score": score, "probability": probability}
        for score, probability in fitted.calibration.points
    ]
    path = _path(fitted.recognizer, fitted.checkpoint_sha256)
    write_whole(path, f"{strict_json.dumps(document)}\n".encode())
    return path


def kept(source: Source) -> Fitted | None:
    """The user's calibration for what made a track.

    Raises:
        BadInput: there is a file, and it is none.
    """
    path = _path(source.name, pinned(source))
    if not path.is_file():
        return None
    fitted = _read(path)
    return (
        fitted
        if (fitted.recognizer, fitted.checkpoint_sha256)
        == (
            source.name,
            pinned(source),
        )
        else None
    )


def forget(recognizer: str) -> list[Path]:
    """Remove a user's calibrations of a recognizer for every checkpoint; the files that are gone.

    Raises:
        UnknownName: there is none.
    """
    files = {path: _read(path).recognizer for path in sorted(folder().glob("*.json"))}
    gone = [path for path, name in files.items() if name == recognizer]
    if not gone:
        raise UnknownName("calibration of yours for", recognizer, set(files.values()))
    for path in gone:
        path.unlink()
    return gone


def all_kept() -> list[Fitted]:
    """All of the user's calibrations, in order of their files' names."""
    return [_read(path) for path in sorted(folder().glob("*.json"))]


def shipped_for(source: Source) -> Measured | None:
    """The manifest's calibration of the network that gave the scores: the last of the
    checkpoints."""
    last = source.checkpoint_sha256.rpartition("+")[2]
    found = (each for each in weights.checkpoints().values() if last and each.sha256 == last)
    checkpoint = next(found, None)
    return checkpoint.calibration if checkpoint is not None else None


def calibrations() -> Calibrations:
    """For ``fusion.policy.Tools``; a person's cues are no recognizer's scores and have none."""

    def of(track: CueTrack) -> ScoreMap | None:
        if track.origin is Origin.HUMAN:
            return None
        if (own := kept(track.source)) is not None:
            return own.calibration
        shipped = shipped_for(track.source)
        return as_map(shipped) if shipped is not None else None

    return of


def fingerprint() -> str:
    """Digest of all calibrations that were fitted on this machine; empty without any."""
    if not folder().is_dir():
        return ""
    digest = hashlib.sha256()
    for path in sorted(folder().glob("*.json")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def as_map(measured: Measured) -> Calibration:
    """The manifest's entry as a map."""
    points = tuple((point.score, point.probability) for point in measured.points)
    return Calibration(measured.method, measured.temperature, points)


def _path(recognizer: str, pin: str) -> Path:
    digest = hashlib.sha256(f"{recognizer} {pin}".encode()).hexdigest()
    safe = "".join(letter if letter.isalnum() else "_" for letter in recognizer)
    return folder() / f"{safe[:40]}-{digest[:16]}.json"


def _read(path: Path) -> Fitted:
    try:
        return _fitted(Fields(strict_json.loads(read_text(path, "calibration"))))
    except BadInput as error:
        raise BadInput(
            f"{str(path)!r} is not a calibration: {error}. Fit it again with cuelight calibrate, "
            "or remove the file."
        ) from None


def _fitted(fields: Fields) -> Fitted:
    if (schema := fields.text("schema")) != SCHEMA:
        raise BadInput(f"its schema is {schema!r}, not {SCHEMA!r}")
    made = fields.fields("calibration")
    points = [(each.number("score"), each.number("probability")) for each in made.each("points")]
    return Fitted(
        recognizer=fields.text("recognizer"),
        checkpoint_sha256=fields.text("checkpoint_sha256"),
        calibration=Calibration(made.text("method"), made.number("temperature"), tuple(points)),
        measured_on=fields.text("measured_on"),
        n=fields.whole("n"),
        ece_before=fields.number("ece_before"),
        ece=fields.number("ece"),
        reliability=tuple(
            Bin(each.whole("n"), each.number("confidence"), each.number("accuracy"))
            for each in fields.each("reliability")
        ),
    )
