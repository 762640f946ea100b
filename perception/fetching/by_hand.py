"""Checkpoint files that a person brought: known by their content, put where they belong."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from perception import weights
from perception.errors import BadInput
from perception.fetching.manifest import Checkpoint, WeightFile
from perception.whole import whole_file

__all__ = ["add"]


def add(source: Path) -> tuple[Checkpoint, Path]:
    """Copy a file into the cache, as the file of the manifest that has its sha256.

    Returns:
        The checkpoint that it is of, and where it lies now.

    Raises:
        BadInput: there is no such file, or its content is that of none of the manifest's.
        StorageError: the cache folder cannot be written.
    """
    try:
        with source.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadInput(f"Cannot read {str(source)!r}: {error.strerror or error}.") from None
    checkpoint, known = _whose(source, sha256)
    place = weights.location(checkpoint.name)
    target = place if len(checkpoint.files) == 1 else place / known.name
    if not (target.is_file() and target.samefile(source)):
        with source.open("rb") as file, whole_file(target) as copy:
            shutil.copyfileobj(file, copy)
    return checkpoint, target


def _whose(source: Path, sha256: str) -> tuple[Checkpoint, WeightFile]:
    size = source.stat().st_size
    known = [(each, file) for each in weights.checkpoints().values() for file in each.files]
    for checkpoint, file in known:
        if file.has_content(sha256, size):
            return checkpoint, file
    begins = f"its sha256 is {sha256[:12]}…"
    for checkpoint, file in known:
        if file.name == source.name:
            raise BadInput(
                f"{str(source)!r} is damaged or is another file: {begins}, and that of "
                f"{file.name!r} of {checkpoint.name!r} is {file.sha256[:12]}…. Download it again."
            )
    alike = [file.name for _, file in known if Path(file.name).suffix == source.suffix.lower()]
    kind = f"{source.suffix.lower()} files" if source.suffix else "files without a suffix"
    raise BadInput(
        f"{str(source)!r} is no file of a checkpoint: {begins}, and no file of the manifest has "
        f"it. Its {kind}: {', '.join(sorted(set(alike))) or 'none'}. "
        "See: cuelight checkpoints list"
    )
