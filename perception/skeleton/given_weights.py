"""Weights that an option names: a checkpoint of the manifest, or a file that the user has.

A file is checked by its name: against the manifest's sha256 where the manifest has that name, and
against its own ending where it is one of OpenMMLab's, ``-<first 8 digits of its sha256>.pth``,
with or without a date behind the digits.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from perception import weights
from perception.errors import BadInput, UnknownName, WeightsError
from perception.text_file import looked_in

__all__ = ["GivenWeights", "sha256_of", "why_no_weights"]

_OPENMMLAB = re.compile(r"-([0-9a-f]{8})(?:_\d{8})?\.(pth|onnx)$")
"""Names of OpenMMLab's files; an ONNX file has the digits of the checkpoint it was made from."""

_OTHERS = {
    ".onnx": (".pth", ".pt", ".ckpt", ".safetensors", ".zip"),
    ".pth": (".onnx", ".safetensors", ".zip"),
}
"""How files of weights end that are not of the kind which ends as the key does."""

_SHOWN_CHARS = 40


@dataclass(frozen=True, slots=True)
class GivenWeights:
    """A file of weights, known by its name in the manifest or by its path.

    Args:
        checkpoint: its name in the manifest; empty when it is the user's own.
        own: the user's file; None when it is in the manifest.
        sha256: of the user's own file; empty when the manifest has it.
    """

    checkpoint: str = ""
    own: Path | None = None
    sha256: str = ""

    @classmethod
    def named(cls, given: str, suffix: str, what: str) -> GivenWeights:
        """What ``given`` names.

        Args:
            given: a name in the manifest, or the path of a file.
            suffix: by which such files are told from names, e.g. ``".onnx"``.
            what: the option, for error messages, e.g. ``"The model of rtmlib"``.

        Raises:
            UnknownName: there is no such checkpoint.
            BadInput: there is no such file, it ends as one of another kind, or it cannot be read.
            WeightsError: the file is not what its name says.
        """
        path = Path(given).expanduser()
        if path.suffix in _OTHERS[suffix]:
            raise BadInput(
                f"{what} is {given!r}: it must end in {suffix}, or be a name in the list of: "
                "cuelight checkpoints list"
            )
        if path.name == given and not given.endswith(suffix):
            if given not in weights.checkpoints():
                raise UnknownName("checkpoint", given, weights.checkpoints())
            return cls(checkpoint=given)
        if not path.is_file():
            raise BadInput(
                f"{what} is {given!r}: there is no such file{looked_in(path)}. It is the path of a "
                f"{suffix} file or a name in the list of: cuelight checkpoints list"
            )
        sha256 = sha256_of(path, what)
        _check(path, sha256)
        return cls(own=path, sha256=sha256)

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """Its name in the manifest, if it has one."""
        return (self.checkpoint,) if self.checkpoint else ()

    @property
    def settings(self) -> Mapping[str, object]:
        """Its name in the manifest, or what pins a file of the user's own wherever it lies."""
        return {"weights_sha256": self.sha256} if self.own else {"weights": self.checkpoint}

    def path(self) -> Path:
        """The file, fetched where it must be; raises as ``weights.path`` does."""
        return self.own or weights.path(self.checkpoint)


def _check(path: Path, sha256: str) -> None:
    """See that a file is what its name says."""
    files = (file for each in weights.checkpoints().values() for file in each.files)
    published = {file.name: file.sha256 for file in files if _OPENMMLAB.search(file.name)}
    ending = _OPENMMLAB.search(path.name)
    begins = published.get(path.name, ending[1] if ending and ending[2] == "pth" else "")
    if not sha256.startswith(begins):
        raise WeightsError(
            f"{str(path)!r} is damaged or is another file: its sha256 is {sha256[:12]}…, and by "
            f"its name it begins with {begins[:12]}. Download it again, or give it another name."
        )


def why_no_weights(path: Path) -> str:
    """Why a file that could not be read as weights is none, where its first bytes tell: it is
    empty, or text; empty where they do not tell."""
    try:
        with path.open("rb") as file:
            head = file.read(200)
        line = head.partition(b"\n")[0].decode().strip()
    except (OSError, UnicodeDecodeError):
        return ""
    if not head:
        return "it is empty"
    if not line or not line.isprintable():
        return ""
    shown = line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…"
    is_pointer = line.startswith("version https://git-lfs")
    fetch = ", as pointers of git-LFS do: git lfs pull fetches the file" if is_pointer else ""
    return f"it begins with {shown!r}{fetch}"


def sha256_of(path: Path, what: str) -> str:
    """Hex digits of a file's sha256.

    Raises:
        BadInput: it cannot be read; ``what`` begins the message.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadInput(f"{what} cannot be read: {error.strerror} ({str(path)!r}).") from None
