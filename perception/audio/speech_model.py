"""Which weights a speech backend runs: an entry of the manifest, or a file of the user's own."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from functools import cached_property
from pathlib import Path

from perception import weights
from perception.audio.languages import languages_of
from perception.errors import BadInput, UnknownName
from perception.fetching.manifest import Checkpoint

__all__ = ["SpeechModel"]

TASK = "speech recognition"
"""Begins the task of every speech model in the manifest of checkpoints."""


class SpeechModel:
    """The weights that ``chosen`` names; nothing is fetched or loaded.

    Args:
        chosen: a name in the manifest, or a path (it has a slash in it).
        ending: of the file that holds the weights, as the backend wants it: ``".pt"`` for a file,
            ``"model.bin"`` for a folder with such a file.

    Raises:
        UnknownName: the manifest has no speech model of that name for this backend.
        BadInput: there is no such file or folder.
    """

    def __init__(self, chosen: str, ending: str) -> None:
        self._chosen, self._own = chosen, None
        if Path(chosen).name != chosen:
            self._own = _own(Path(chosen).expanduser(), ending)
            return
        names = [name for name, each in weights.checkpoints().items() if _fits(each, ending)]
        if chosen not in names:
            raise UnknownName("speech model of this backend", chosen, names)

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """Its name in the manifest; none for weights of the user's own."""
        return () if self._own else (self._chosen,)

    @property
    def languages(self) -> Collection[str]:
        """Whisper's codes of the languages that it may know."""
        return languages_of("" if self._own else weights.checkpoint(self._chosen).task)

    @cached_property
    def sha256(self) -> str:
        """Of the file; of the sorted lines ``SHA256  NAME`` for a folder.

        Raises:
            BadInput: the user's own weights cannot be read.
        """
        if self._own is None:
            return weights.sha256(self._chosen)
        try:
            if self._own.is_file():
                return _digest(self._own)
            files = sorted(file for file in self._own.iterdir() if file.is_file())
            lines = sorted(f"{_digest(file)}  {file.name}\n" for file in files)
        except OSError as error:
            raise BadInput(f"Cannot read the speech model {str(self._own)!r}: {error}.") from None
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def path(self) -> Path:
        """The file or folder, fetched and verified where it is of the manifest.

        Raises:
            WeightsError: the checkpoint cannot be had.
        """
        return weights.path(self._chosen) if self._own is None else self._own


def _fits(checkpoint: Checkpoint, ending: str) -> bool:
    is_speech = checkpoint.task.startswith(TASK)
    return is_speech and any(file.name.endswith(ending) for file in checkpoint.files)


def _own(path: Path, ending: str) -> Path:
    if (path.is_file() and path.name.endswith(ending)) or (path / ending).is_file():
        return path
    wanted = f"a file ending in {ending}" if ending.startswith(".") else f"a folder with {ending}"
    raise BadInput(f"There is no speech model {str(path)!r}; this backend wants {wanted}.")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
