"""What a network's outputs mean: ``ActionLabels`` and the files that hold them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perception.errors import BadInput, UnknownName, WeightsError
from perception.shipped import shipped
from perception.text_file import read_text

__all__ = ["ActionLabels", "read_document", "shipped_labels"]

_FOLDER = "posec3d_ntu"


@dataclass(frozen=True, slots=True, eq=False)
class ActionLabels:
    """What a network's outputs mean.

    Args:
        names: the served labels, e.g. ``"wave"``.
        phrases: what a person does, in words, e.g. ``"waves a hand"``; one per name.
        none: index of the label "no action" in ``names``; None when the network has none.
        groups: int [outputs], for each output of the network the index of the label it counts for.
        temperature: divides the logits; fitted on subjects that no other part of the data has.
        none_bias: added to the logits of "no action" first; fitted on the same subjects.
    """

    names: tuple[str, ...]
    phrases: tuple[str, ...]
    none: int | None
    groups: npt.NDArray[np.int64]
    temperature: float = 1.0
    none_bias: float = 0.0

    @classmethod
    def read(cls, path: Path) -> ActionLabels:
        """A labels file: ``.json`` as beside our weights, or text with one class name a line.

        Raises:
            WeightsError: the file is missing, or is no such file.
        """
        if path.suffix == ".json":
            return cls.of_document(read_document(path), path)
        try:
            lines = read_text(path, "labels").splitlines()
        except BadInput as error:
            raise WeightsError(str(error)) from None
        names = [line.strip() for line in lines if line.strip()]
        if not names or len(set(names)) < len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            fault = f"names {', '.join(map(repr, twice))} twice" if twice else "is empty"
            raise WeightsError(
                f"The labels file {str(path)!r} {fault}; it has one class name a line, in the "
                "order of the network's outputs."
            )
        return cls.of_classes(names)

    @classmethod
    def of_document(cls, document: Mapping[str, Any], path: Path) -> ActionLabels:
        """The labels in a labels.json; ``path`` names it in messages.

        Raises:
            WeightsError: a key is missing or does not fit.
        """
        try:
            labels: dict[str, Any] = document["labels"]
            names = tuple(labels)
            owner = {c: i for i, entry in enumerate(labels.values()) for c in entry["classes"]}
            groups = np.array([owner[c] for c in document["classes"]], dtype=np.int64)
            none = names.index(document["none"]) if document["none"] is not None else None
            phrases = tuple(str(entry["phrase"]) for entry in labels.values())
            fitted = float(document["temperature"]), float(document["none_bias"])
            return cls(names, phrases, none, groups, *fitted)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise _no_labels(path, error) from None

    @classmethod
    def of_classes(cls, classes: list[str] | tuple[str, ...]) -> ActionLabels:
        """A label for each class; NTU RGB+D's classes get their phrases."""
        known = _phrases()
        phrases = tuple(known.get(_plain(name), f"does: {name}") for name in classes)
        return cls(tuple(classes), phrases, None, np.arange(len(classes)))

    @property
    def outputs(self) -> int:
        """Of the network that they belong to."""
        return len(self.groups)

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that change with any of the above."""
        fitted = self.temperature, self.none_bias
        fields = (self.names, self.phrases, self.none, self.groups.tolist(), *fitted)
        return hashlib.sha256(json.dumps(fields).encode()).hexdigest()[:12]

    def probabilities(self, logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Softmax with bias and temperature, summed over the outputs of each label.

        Args:
            logits: [outputs].

        Returns:
            float32 [labels], summing to 1.
        """
        if self.none is not None:
            logits = logits + self.none_bias * (self.groups == self.none)
        scaled = np.exp((logits - logits.max()) / self.temperature)
        merged = np.bincount(self.groups, weights=scaled / scaled.sum(), minlength=len(self.names))
        return merged.astype(np.float32)

    def top(
        self, probabilities: npt.NDArray[np.float32], count: int = 5
    ) -> list[tuple[str, float]]:
        """The ``count`` most probable labels with their probabilities, best first, of
        probabilities [labels]."""
        order = np.argsort(-probabilities, kind="stable")[:count]
        return [(self.names[i], float(probabilities[i])) for i in order]


def read_document(path: Path) -> dict[str, Any]:
    """What a labels.json holds.

    Raises:
        WeightsError: it cannot be read, or is no mapping.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _no_labels(path, error) from None
    if not isinstance(document, dict):
        raise _no_labels(path, TypeError(f"it holds a {type(document).__name__}"))
    return document


def shipped_labels(name: str) -> ActionLabels:
    """NTU RGB+D's classes, ``"ntu60"`` or ``"ntu120"``, in the order of their numbers.

    Raises:
        UnknownName: there are no labels of that name.
    """
    folder = shipped("checkpoints") / _FOLDER
    names = sorted(path.stem for path in folder.glob("*.json"))
    if name not in names:
        raise UnknownName("list of labels", name, names)
    return ActionLabels.read(folder / f"{name}.json")


def _phrases() -> dict[str, str]:
    labels = shipped_labels("ntu120")
    return dict(zip(map(_plain, labels.names), labels.phrases, strict=True))


def _plain(name: str) -> str:
    """A class name without what differs between its copies: case, a full stop, a typeset quote."""
    return name.casefold().replace("’", "'").removesuffix(".")


def _no_labels(path: Path, error: Exception) -> WeightsError:
    detail = f"{type(error).__name__}: {error}"
    return WeightsError(f"{str(path)!r} is not a labels file of PoseC3D ({detail}).")
