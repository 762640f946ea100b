"""A checkpoint of OpenMMLab's download server (mmaction2, mmpose, mmdetection)."""

from __future__ import annotations

from dataclasses import dataclass

from perception.errors import BadInput
from perception.fetching.source import Source
from perception.fetching.sources import https

__all__ = ["Options", "build"]

_SERVER = "https://download.openmmlab.com"

PROJECTS = ("mmaction", "mmdetection", "mmpose")
"""First folder on the server, as the projects' model zoos write it."""


@dataclass(frozen=True, slots=True)
class Options:
    """Keys of a source of the kind ``openmmlab``.

    Args:
        project: one of ``PROJECTS``.
        path: the rest of the address; OpenMMLab ends names in ``-<first 8 of the sha256>.pth``.
        member: path inside, where a zip lies there (ONNX files); empty = the file itself.
    """

    project: str
    path: str
    member: str = ""


def build(options: Options) -> Source:
    """The source that ``options`` describe.

    Raises:
        BadInput: the project does not exist.
    """
    if options.project not in PROJECTS:
        raise BadInput(f"project must be one of {', '.join(PROJECTS)}, not {options.project!r}")
    url = f"{_SERVER}/{options.project}/{options.path.lstrip('/')}"
    return https.build(https.Options(url, options.member))
