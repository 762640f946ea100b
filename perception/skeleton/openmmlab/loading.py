"""OpenMMLab's checkpoints as data: tensors and plain values, never code.

A ``.pth`` file is a pickle, and a pickle can run any code when it is read. Files are therefore read
with torch's ``weights_only``, which knows tensors and plain containers, plus ``_allowed``: numpy's
arrays and numbers, and stand-ins that keep nothing of mmengine's log. Only files in a folder that
the user's own training run wrote (``trusted``) may be unpickled in full.
"""

from __future__ import annotations

import contextlib
import pickle
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from perception.errors import BadInput, WeightsError
from perception.skeleton.given_weights import why_no_weights
from perception.text_file import looked_in

__all__ = ["class_names", "for_mmengine", "load_checkpoint", "state_dict", "trusted"]

_trusted: list[Path] = []

_FORBIDDEN = re.compile(r"GLOBAL ([\w.]+)|Unsupported (?:operand|class) (\S+)")


_GARBLED = (AttributeError, TypeError)
"""What torch's reader stumbles over in bytes that are no pickle."""


class _Forgotten:
    """Stands in for mmengine's HistoryBuffer, the log that its Runner saves with the weights."""

    def __setstate__(self, state: object) -> None:
        """Keep nothing."""


def _nothing(*_: object) -> None:
    """Stands in for ``getattr``, by which that log names its own methods."""


@contextlib.contextmanager
def trusted(folder: Path) -> Iterator[None]:
    """Within the block, checkpoints below ``folder`` may be unpickled in full.

    Only for a folder that this user's own training run wrote, e.g. to resume it.
    """
    _trusted.append(folder.resolve())
    try:
        yield
    finally:
        _trusted.remove(folder.resolve())


def load_checkpoint(path: Path, map_location: Any = "cpu") -> dict[str, Any]:
    """What a checkpoint file holds.

    Raises:
        BadInput: there is no such file.
        WeightsError: it is damaged, is no checkpoint, or holds more than data.
    """
    import torch

    if not path.is_file():
        raise BadInput(f"There is no checkpoint {str(path)!r}{looked_in(path)}.")
    try:
        with torch.serialization.safe_globals(_allowed()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            document = torch.load(path, map_location=map_location, weights_only=True)
    except pickle.UnpicklingError as error:
        if reason := why_no_weights(path):
            raise WeightsError(f"{str(path)!r} is no checkpoint of torch ({reason}).") from None
        if not any(path.resolve().is_relative_to(folder) for folder in _trusted):
            raise WeightsError(_refusal(path, error)) from None
        document = torch.load(path, map_location=map_location, weights_only=False)
    except (RuntimeError, OSError, EOFError, LookupError, ValueError, *_GARBLED) as error:
        reason = why_no_weights(path) or " ".join(str(error).split())[:200]
        raise WeightsError(
            f"{str(path)!r} is damaged or is no checkpoint of torch ({reason})."
        ) from None
    if not isinstance(document, dict):
        raise WeightsError(
            f"{str(path)!r} holds a {type(document).__name__}, no checkpoint with named weights."
        )
    return document


def for_mmengine(filename: str, map_location: Any = None) -> dict[str, Any]:
    """``load_checkpoint`` in the shape of mmengine's loaders of local files.

    Raises:
        FileNotFoundError: there is no such file.
        WeightsError: as ``load_checkpoint``.
    """
    path = Path(filename).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f"{filename} can not be found.")
    return load_checkpoint(path, map_location)


def state_dict(document: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The weights in a checkpoint by name, without the prefix of a wrapped model.

    Args:
        document: what it holds.
        path: where it lies, for error messages.

    Raises:
        WeightsError: it holds none.
    """
    weights = document.get("state_dict", document)
    named = isinstance(weights, dict) and weights
    if not named or not all(hasattr(value, "shape") for value in weights.values()):
        held = ", ".join(map(str, document)) or "nothing"
        raise WeightsError(f"The checkpoint {str(path)!r} holds no state_dict; it has {held}.")
    return {name.removeprefix("module."): value for name, value in weights.items()}


def class_names(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The class names in a checkpoint's metadata; empty when it has none.

    mmengine's Runner saves them in ``meta.dataset_meta.classes``, mmcv 1's in ``meta.CLASSES``.
    """
    meta = document.get("meta")
    if not isinstance(meta, dict):
        return ()
    dataset = meta.get("dataset_meta")
    dataset = dataset if isinstance(dataset, dict) else {}
    for found in (dataset.get("classes"), dataset.get("CLASSES"), meta.get("CLASSES")):
        if isinstance(found, list | tuple) and found:
            return tuple(map(str, found))
    return ()


def _allowed() -> list[Any]:
    import numpy as np
    from numpy._core import multiarray

    parts: list[Any] = [np.ndarray, np.dtype]
    parts += [type(np.dtype(kind)) for kind in ("f8", "f4", "f2", "i8", "i4", "i2", "u1", "bool")]
    for function in (multiarray._reconstruct, multiarray.scalar):
        for module in ("numpy._core.multiarray", "numpy.core.multiarray"):
            parts.append((function, f"{module}.{function.__name__}"))
    parts.append((_Forgotten, "mmengine.logging.history_buffer.HistoryBuffer"))
    return [*parts, (_nothing, "builtins.getattr")]


def _refusal(path: Path, error: pickle.UnpicklingError) -> str:
    found = _FORBIDDEN.search(str(error))
    what = next((name for name in found.groups() if name), "") if found else ""
    holds = f"it names {what}, which could run code" if what else "it is no plain file of weights"
    return (
        f"{str(path)!r} is not loaded: {holds}. If it is yours, save its weights alone: "
        'torch.save({"state_dict": model.state_dict()}, "weights.pth").'
    )
