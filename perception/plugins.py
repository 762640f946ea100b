"""The folder is the registry: a plug-in is a file that exports ``Options`` and ``build``.

``names`` lists without importing; ``take`` imports the one that was asked for. Another
distribution adds a plug-in by an entry point in the group ``cuelight.<room>.<folder>``, e.g.
``cuelight.perception.recognizers``, whose value is a module that exports the same two names.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from perception.errors import CuelightError, UnknownName

__all__ = ["Plugin", "build", "file", "load", "names", "options_of", "take"]

_SINGULAR = re.compile("ies$")


class Plugin(NamedTuple):
    """What a plug-in file exports."""

    name: str
    Options: type[Any]
    build: Callable[..., Any]


def _entry_points(folder: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=f"cuelight.{folder}")}


def _own(folder: str) -> list[str]:
    spec = importlib.util.find_spec(folder)
    if spec is None or spec.submodule_search_locations is None:
        raise CuelightError(f"{folder!r} is not a plug-in folder (e.g. 'perception.recognizers').")
    modules = pkgutil.iter_modules(spec.submodule_search_locations)
    return [module.name for module in modules if not module.name.startswith("_")]


def names(folder: str) -> list[str]:
    """Names of all plug-ins in ``folder`` (a dotted package name), sorted, nothing imported.

    Raises:
        CuelightError: there is no such folder.
    """
    return sorted({*_own(folder), *_entry_points(folder)})


def file(folder: str, name: str) -> Path | None:
    """Where the source of a plug-in of our own lies; None of another distribution's."""
    spec = importlib.util.find_spec(folder)
    for place in (spec and spec.submodule_search_locations) or ():
        for path in (Path(place, f"{name}.py"), Path(place, name, "__init__.py")):
            if path.is_file():
                return path
    return None


def load(folder: str, name: str) -> ModuleType:
    """Import plug-in ``name`` of ``folder`` (a dotted package, e.g. ``reasoning.videollms``).

    Raises:
        UnknownName: no such plug-in; lists what exists.
        CuelightError: there is no such folder.
    """
    if name in _own(folder):
        return importlib.import_module(f"{folder}.{name}")
    if (point := _entry_points(folder).get(name)) is not None:
        module: ModuleType = point.load()
        return module
    what = _SINGULAR.sub("y", folder.rpartition(".")[2].replace("_", " "))
    raise UnknownName(what.removesuffix("s"), name, names(folder))


def take(folder: str, name: str) -> Plugin:
    """The ``Options`` and ``build`` of plug-in ``name``.

    Raises:
        UnknownName: no such plug-in; lists what exists.
        CuelightError: the module lacks ``Options`` or ``build``.
    """
    module = load(folder, name)
    try:
        return Plugin(name, module.Options, module.build)
    except AttributeError as missing:
        raise CuelightError(f"The plug-in {module.__name__} is incomplete: {missing}.") from missing


def options_of(folder: str) -> Any:
    """A field of an ``Options`` that holds those of ``folder``'s plug-ins: name -> ``Options``.

    It is empty by default. In a config it is a section with one section for each plug-in, which is
    checked as the plug-in's ``Options`` say.
    """
    return dataclasses.field(default_factory=dict, metadata={"plugins": folder})


def build(folder: str, name: str, options: Mapping[str, Any]) -> Any:
    """What plug-in ``name`` builds from its options in ``options``, else from its defaults.

    Raises:
        UnknownName: no such plug-in; lists what exists.
    """
    plugin = take(folder, name)
    chosen = options.get(name)
    return plugin.build(plugin.Options() if chosen is None else chosen)
