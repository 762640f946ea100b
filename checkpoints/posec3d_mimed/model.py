"""A trained network and its labels, for evaluation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from network import ARCHITECTURE
from numpy.typing import NDArray
from views import View
from vocabulary import CLASSES

from perception.skeleton.training import measures
from perception.skeleton.training.fit import logits_of
from perception.skeleton.training.network import PoseC3D


class Labels:
    """labels.json: the served labels as merges of the head's classes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.document: dict[str, Any] = json.loads(path.read_text())
        self.names = list(self.document["labels"])
        of = {
            c: i
            for i, entry in enumerate(self.document["labels"].values())
            for c in entry["classes"]
        }
        self.served = np.array([of[c] for c in CLASSES])
        self.none = self.names.index(self.document["none"])
        self.temperature = float(self.document["temperature"])
        self.none_bias = float(self.document["none_bias"])

    def biased(self, logits: NDArray[Any], bias: float) -> NDArray[np.float64]:
        """Logits with `bias` added to those of "none"."""
        return np.asarray(logits + bias * (self.served == self.none), dtype=np.float64)

    def probabilities(
        self,
        logits: NDArray[Any],
        temperature: float | None = None,
        bias: float | None = None,
    ) -> NDArray[np.float64]:
        """Of the served labels; the kept temperature and bias unless others are given."""
        shifted = self.biased(logits, self.none_bias if bias is None else bias)
        merged = measures.softmax(shifted, temperature or self.temperature)
        return measures.merge(merged, self.served, len(self.names))

    def keep(self, temperature: float, bias: float) -> None:
        """Write both, and the order of the head's classes, to the labels file."""
        self.temperature, self.none_bias = temperature, bias
        self.document["temperature"], self.document["none_bias"] = temperature, bias
        self.document["classes"] = list(CLASSES)
        self.path.write_text(json.dumps(self.document, indent=1) + "\n")


class Network:
    """The averaged weights of a checkpoint in float32."""

    def __init__(self, path: Path) -> None:
        self.net = PoseC3D(ARCHITECTURE, len(CLASSES)).to(memory_format=torch.channels_last_3d)
        self.net.load_state_dict(torch.load(path, weights_only=True)["average"])

    def logits(self, views: list[View]) -> NDArray[Any]:
        points = np.stack([p for p, _ in views]).astype(np.float32)
        scores = np.stack([s for _, s in views]).astype(np.float32)
        return logits_of(self.net, points, scores)
