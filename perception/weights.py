"""Checkpoints by name: ``path("whisper_base")`` is a verified file or folder, fetched if need be.

``checkpoints/manifest.yaml`` pins every file by sha256. Files lie in
``CACHE/checkpoints/NAME/<first 12 digits of its sha256>/``, so that another version never meets
them. Each is hashed as it is written, and once more in every process that uses it (0.4 s for
the largest): a damaged file is noticed before a model loads it, and fetched again. With a warm
cache nothing touches the network, and nothing is written.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from perception.errors import StorageError, UnknownName, WeightsError
from perception.fetching.manifest import Checkpoint, Wanted, WeightFile, read_manifest
from perception.fetching.source import CHUNK_BYTES, Download, OnProgress
from perception.shipped import shipped

__all__ = [
    "Checked",
    "Checkpoint",
    "OnProgress",
    "Planned",
    "State",
    "Store",
    "cache_folder",
    "checkpoint",
    "checkpoints",
    "fetch",
    "has",
    "location",
    "path",
    "plan",
    "sha256",
    "silent",
    "verify",
]


class State(StrEnum):
    """How a checkpoint's file stands."""

    OK = "ok"
    MISSING = "missing"
    DAMAGED = "damaged"
    """It is there, with another size or another sha256."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What ``verify`` found for one file."""

    checkpoint: str
    file: WeightFile
    path: Path
    state: State


@dataclass(frozen=True, slots=True)
class Planned:
    """One download of a fetching run and the files it is for."""

    download: Download
    files: tuple[str, ...]


def cache_folder() -> Path:
    """``CUELIGHT_CACHE``, else the platform's cache folder for Cuelight; it may not exist yet."""
    if chosen := os.environ.get("CUELIGHT_CACHE"):
        return Path(os.path.expanduser(chosen)).absolute()  # noqa: PTH111 - ~nobody stays as it is
    import platformdirs

    return platformdirs.user_cache_path("cuelight", appauthor=False)


def silent(label: str, received: int, total: int) -> None:
    """Report to nobody."""


class Store:
    """The checkpoints of one manifest in one cache folder."""

    def __init__(self, manifest: Path, folder: Path) -> None:
        """Use the manifest file and keep weights in ``folder`` (made when first needed)."""
        self._manifest = manifest
        self._folder = folder
        self._seen: set[tuple[Path, int, int]] = set()

    @property
    def checkpoints(self) -> Mapping[str, Checkpoint]:
        """All entries by name, in the manifest's order."""
        return read_manifest(self._manifest)

    def checkpoint(self, name: str) -> Checkpoint:
        """The entry.

        Raises:
            UnknownName: there is none of that name.
        """
        if name not in self.checkpoints:
            raise UnknownName("checkpoint", name, self.checkpoints)
        return self.checkpoints[name]

    def location(self, name: str) -> Path:
        """Where the checkpoint lies or would lie: a file, or a folder when it has several."""
        checkpoint = self.checkpoint(name)
        first = self._target(checkpoint, checkpoint.files[0])
        return first if len(checkpoint.files) == 1 else first.parent

    def has(self, name: str) -> bool:
        """Whether every file is there with its size; nothing is hashed."""
        checkpoint = self.checkpoint(name)
        sizes = [(_size(self._target(checkpoint, file)), file.size) for file in checkpoint.files]
        return all(size is not None and known in {0, size} for size, known in sizes)

    def path(self, name: str, on_progress: OnProgress = silent) -> Path:
        """``location(name)`` with every file there and verified; fetches what is not.

        Raises:
            UnknownName: there is no such checkpoint.
            WeightsError: a file cannot be had from any source.
            StorageError: the cache folder cannot be written.
        """
        self.fetch([name], on_progress)
        return self.location(name)

    def fetch(
        self, names: Iterable[str] | None = None, on_progress: OnProgress = silent
    ) -> tuple[Path, ...]:
        """Have ``names`` (default checkpoints when None) in the cache; raises as ``path`` does."""
        chosen = self._chosen(names)
        if self._lacking(chosen):
            from filelock import FileLock

            from perception.fetching.run import fetch_files

            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                lock = FileLock(self._folder / ".lock")
                lock.acquire()
            except OSError as error:
                raise StorageError(
                    f"Cannot write into the cache folder {str(self._folder)!r}: "
                    f"{error.strerror or error}. "
                    "Set CUELIGHT_CACHE to a folder that can be written."
                ) from error
            try:
                fetch_files(self._lacking(chosen), self._folder, on_progress)
            finally:
                lock.release()
        return tuple(self.location(checkpoint.name) for checkpoint in chosen)

    def plan(self, names: Iterable[str] | None = None) -> tuple[Planned, ...]:
        """The downloads that ``fetch`` would begin with."""
        files: dict[Download, list[str]] = {}
        for item in self._lacking(self._chosen(names)):
            for download in item.file.sources[0].downloads:
                files.setdefault(download, []).append(f"{item.checkpoint}/{item.file.name}")
        return tuple(Planned(download, tuple(each)) for download, each in files.items())

    def verify(self, names: Iterable[str] | None = None) -> tuple[Checked, ...]:
        """Hash every file of ``names`` (all checkpoints when None); fetches nothing."""
        chosen = list(self.checkpoints.values()) if names is None else self._chosen(names)
        return tuple(
            Checked(checkpoint.name, file, target, _state(target, file))
            for checkpoint in chosen
            for file in checkpoint.files
            for target in [self._target(checkpoint, file)]
        )

    def _chosen(self, names: Iterable[str] | None) -> Sequence[Checkpoint]:
        if names is None:
            return [each for each in self.checkpoints.values() if each.default]
        return [self.checkpoint(name) for name in dict.fromkeys(names)]

    def _target(self, checkpoint: Checkpoint, file: WeightFile) -> Path:
        """Where it ships when every file of the checkpoint ships, else in the cache."""
        shipping = [_in_place(each) for each in checkpoint.files]
        if None not in shipping and (here := _in_place(file)) is not None:
            return here
        return self._folder / checkpoint.name / checkpoint.sha256[:12] / file.name

    def _lacking(self, chosen: Iterable[Checkpoint]) -> list[Wanted]:
        lacking = []
        for checkpoint in chosen:
            for file in checkpoint.files:
                target = self._target(checkpoint, file)
                if self._is_good(target, file):
                    continue
                if target == _in_place(file):
                    raise WeightsError(
                        f"The file {str(target)!r} is {_state(target, file).value}: it does not "
                        f"have the sha256 {file.sha256[:12]}… of the checkpoint "
                        f"{checkpoint.name!r} in the manifest. Install cuelight again."
                    )
                lacking.append(Wanted(checkpoint.name, file, target))
        return lacking

    def _is_good(self, target: Path, file: WeightFile) -> bool:
        try:
            status = target.stat()
        except OSError:
            return False
        key = (target, status.st_mtime_ns, status.st_size)
        if key not in self._seen:
            if _state(target, file) is not State.OK:
                return False
            self._seen.add(key)
        return True


def _in_place(file: WeightFile) -> Path | None:
    return next((each.in_place for each in file.sources if each.in_place is not None), None)


def _size(target: Path) -> int | None:
    try:
        return target.stat().st_size
    except OSError:
        return None


def _state(target: Path, file: WeightFile) -> State:
    if (size := _size(target)) is None:
        return State.MISSING
    if file.size not in {0, size}:
        return State.DAMAGED
    try:
        digest = _digest(target)
    except OSError:
        return State.MISSING
    return State.OK if file.has_content(digest, size) else State.DAMAGED


def _digest(target: Path) -> str:
    digest = hashlib.sha256()
    with target.open("rb") as opened:
        while chunk := opened.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


_stores: dict[tuple[Path, Path], Store] = {}
_stores_lock = threading.Lock()


def _store() -> Store:
    key = (shipped("checkpoints") / "manifest.yaml", cache_folder() / "checkpoints")
    with _stores_lock:
        return _stores.setdefault(key, Store(*key))


def checkpoints() -> Mapping[str, Checkpoint]:
    """``Store.checkpoints`` of the shipped manifest."""
    return _store().checkpoints


def checkpoint(name: str) -> Checkpoint:
    """``Store.checkpoint`` of the shipped manifest."""
    return _store().checkpoint(name)


def sha256(name: str) -> str:
    """The checkpoint's sha256 in the manifest; nothing is fetched or read.

    Raises:
        UnknownName: there is no such checkpoint.
    """
    return _store().checkpoint(name).sha256


def has(name: str) -> bool:
    """``Store.has`` in Cuelight's cache folder."""
    return _store().has(name)


def location(name: str) -> Path:
    """``Store.location`` in Cuelight's cache folder."""
    return _store().location(name)


def path(name: str, on_progress: OnProgress = silent) -> Path:
    """``Store.path`` in Cuelight's cache folder."""
    return _store().path(name, on_progress)


def fetch(names: Iterable[str] | None = None, on_progress: OnProgress = silent) -> tuple[Path, ...]:
    """``Store.fetch`` into Cuelight's cache folder."""
    return _store().fetch(names, on_progress)


def plan(names: Iterable[str] | None = None) -> tuple[Planned, ...]:
    """``Store.plan`` for Cuelight's cache folder."""
    return _store().plan(names)


def verify(names: Iterable[str] | None = None) -> tuple[Checked, ...]:
    """``Store.verify`` in Cuelight's cache folder."""
    return _store().verify(names)
