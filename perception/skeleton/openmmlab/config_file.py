"""Configs of mmaction2 and mmpose: found by name or path, pinned by content."""

from __future__ import annotations

import ast
import difflib
import hashlib
import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from perception.errors import BadInput
from perception.text_file import looked_in, read_text

__all__ = ["ConfigFile"]

_CONFIGS = ".mim/configs"
"""Where OpenMMLab's packages ship their configs."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A config file.

    Args:
        path: the file.
        sha256: of its text and of those that it builds on, by ``_base_`` or under ``read_base``.
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
            BadInput: there is none, and it names the nearest; it cannot be read; or something that
                it builds on is not there.
        """
        path = Path(given).expanduser()
        if path.name == given and path.suffix != ".py":
            path = _shipped(given, package)
        elif not path.is_file():
            raise BadInput(
                f"There is no config {given!r}{looked_in(path)}: it is the path of a .py file, or "
                f"the name, without .py, of one that {package} ships."
            )
        texts = _chain(path.resolve(), {}).values()
        return cls(path, hashlib.sha256("\0".join(texts).encode()).hexdigest())


def _shipped(name: str, package: str) -> Path:
    known = {
        path.stem: path
        for folder in _folders(package)
        for path in sorted((folder / _CONFIGS).glob("*/**/*.py"))
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
        for base in _bases(path, texts[path]):
            _chain(base, texts)
    return texts


def _bases(path: Path, text: str) -> Iterator[Path]:
    """The files that a config builds on.

    Raises:
        BadInput: one of them is not there, ``_base_`` is not written out, or it is no Python.
    """
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError) as error:
        line = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else error
        raise BadInput(f"The config {str(path)!r} cannot be read as Python: {line}.") from None
    for statement in statements:
        if isinstance(statement, ast.With) and "read_base" in ast.unparse(statement.items[0]):
            for each in statement.body:
                if isinstance(each, ast.ImportFrom):
                    yield _imported(path, each)
        elif isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "_base_":
            for given in _written(path, statement.value):
                yield _based(path, given)


def _written(path: Path, value: ast.expr) -> Sequence[str]:
    entries = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
    bases = [text for text in map(_text, entries) if text is not None]
    if len(bases) < len(entries):
        raise BadInput(
            f"The config {str(path)!r} must write out what it builds on, as one path or a list of "
            f"paths, not _base_ = {ast.unparse(value)}."
        )
    return bases


def _text(value: ast.expr) -> str | None:
    """A string that is written out, in one piece or in several with plus signs between."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        left, right = _text(value.left), _text(value.right)
        return None if left is None or right is None else left + right
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def _based(path: Path, given: str) -> Path:
    """The file of an entry of ``_base_``: an absolute path, one relative to the config, or
    ``PACKAGE::PATH`` among the configs that a package of OpenMMLab ships."""
    package, scoped, inside = given.partition("::")
    places = (
        [folder / _CONFIGS / inside for folder in _folders(package)]
        if scoped
        else [path.parent / given]
    )
    return _existing(path, given, places)


def _imported(path: Path, statement: ast.ImportFrom) -> Path:
    """The file of a ``from … import *`` under ``with read_base()``."""
    names = (statement.module or "").split(".")
    given = "." * statement.level + (statement.module or "")
    if statement.level:
        folders = list(path.parents[statement.level - 1 : statement.level])
    else:
        folders, names = _folders(names[0]), names[1:]
        folders += [folder / ".mim" for folder in folders]
    return _existing(
        path, given, [folder.joinpath(*names).with_suffix(".py") for folder in folders]
    )


def _existing(path: Path, given: str, places: Sequence[Path]) -> Path:
    for place in places:
        if place.is_file():
            return place.resolve()
    looked = ", ".join(repr(str(place)) for place in places) or "no package of that name"
    raise BadInput(
        f"The config {str(path)!r} builds on {given!r}, which is not there (looked at: {looked})."
    )


def _folders(package: str) -> list[Path]:
    """Where an installed package lies; nothing is imported."""
    try:
        spec = importlib.util.find_spec(package) if package.isidentifier() else None
    except ValueError:
        spec = None
    return [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]
