"""Training PoseC3D: one code for the embedded model's recipe and for a user's own labels.

``architecture``, ``augmentation``, ``batches``, ``measures``, ``nothing`` and the reading of labels
need numpy alone. ``network``, ``fit``, ``weights`` and ``export`` are torch code and import it at
their top: call ``require_torch`` before importing one of them.
"""

from __future__ import annotations

import importlib.util

from perception.errors import MissingExtra

__all__ = ["require_torch"]


def require_torch(purpose: str = "Training PoseC3D") -> None:
    """See that what the extra ``train`` brings is installed.

    Raises:
        MissingExtra: it is not; says the install line.
    """
    for package in ("torch", "onnx"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtra(package, "train", purpose)
