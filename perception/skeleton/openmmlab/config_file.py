"""Configs of mmaction2 and mmpose: found by name or path, pinned by content."""

from __future__ import annotations

import ast
import difflib
import hashlib
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from perception.errors import BadInput
from perception.text_file import read_text

__all__ = ["ConfigFile"]


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A config file.

    Args:
        path: the file.
        sha256: of its text and of those that it builds on by their paths.
    """

    path: Path
    sha256: str

    @classmethod
    def named(cls, given: str, package: str) -> ConfigFile:
        """The config ``given`` by its path, or by its file's name among those of ``package``.

        Args:
            given: a path, or a name without ``.py``.
            package: ``"mmaction"`` or ``"mmpose"``.

        Raises:
            BadInput: there is none; names the nearest, or says that it cannot be read.
        """
        path = Path(given).expanduser()
        if path.name == given and path.suffix != ".py":
            path = _shipped(given, package)
        elif not path.is_file():
            raise BadInput(f"There is no config {given!r}: it is no .py file of {package}.")
        texts = [text for _, text in sorted(_chain(path, {}).items())]
        return cls(path, hashlib.sha256("\0".join(texts).encode()).hexdigest())


def _shipped(name: str, package: str) -> Path:
    spec = importlib.util.find_spec(package)
    folders = (spec.submodule_search_locations or ()) if spec else ()
    known = {
        path.stem: path
        for folder in folders
        for path in sorted(Path(folder).glob(".mim/configs/*/**/*.py"))
        if "_base_" not in path.parts
    }
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.3)
        raise BadInput(
            f"{package} ships no config {name!r}. The nearest of its {len(known)}: "
            f"{', '.join(near) or 'none'}. Or give the path of a .py file."
        )
    return known[name]


def _chain(path: Path, texts: dict[Path, str]) -> dict[Path, str]:
    """The text of a config and of all that it builds on, by path."""
    if path not in texts:
        texts[path] = read_text(path, "config")
        for base in _bases(texts[path]):
            beside = (path.parent / base).resolve()
            if beside.is_file():
                _chain(beside, texts)
    return texts


def _bases(text: str) -> Iterator[str]:
    """The paths in ``_base_`` of a config's text; none where it is no Python."""
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError):
        return
    for statement in statements:
        if isinstance(statement, ast.Assign):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            if "_base_" in names:
                for node in ast.walk(statement.value):
                    if isinstance(node, ast.Constant) and isinstance(node.value, str):
                        yield node.value
