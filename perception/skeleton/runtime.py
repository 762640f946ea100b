"""The Runtime protocol: a PoseC3D network, how it is fed, and what its outputs mean.

A runtime is a plug-in file of ``runtimes/``; ``perception.skeleton.posec3d`` does the rest, once
for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Protocol

from perception.skeleton.action_labels import ActionLabels
from perception.skeleton.heatmaps import Floats

__all__ = ["Recipe", "Runtime"]


class Recipe(Protocol):
    """How poses become the volumes that a network was trained on."""

    def volumes(
        self, keypoints: Floats, scores: Floats, picture: tuple[int, int], *, mirror: bool
    ) -> Iterator[Floats]:
        """One volume for each look at the clip.

        Args:
            keypoints: [people, T, 17, 2] in pixels; 0, 0 where the score is 0.
            scores: [people, T, 17] in [0, 1].
            picture: height and width of the picture in the same pixels.
            mirror: also look at the clip in a mirror.

        Yields:
            float32 [channels, frames, height, width].
        """


class Runtime(Protocol):
    """A network with its preprocessing and its labels. The network loads on first use."""

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """Names of its weights in the manifest; empty when the user gave a file."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Plain values that change whenever the same poses would get other probabilities."""

    @property
    def labels(self) -> ActionLabels:
        """What its outputs mean."""

    @property
    def recipe(self) -> Recipe:
        """How it is fed."""

    @property
    def average(self) -> Literal["score", "prob"]:
        """What is averaged over the looks at a clip: logits or probabilities."""

    def logits(self, volume: Floats) -> Floats:
        """Float32 [outputs] of one volume of the recipe.

        Raises:
            WeightsError: the weights do not fit the network or the labels.
        """
