"""The network of this model: PoseC3D as ``perception.skeleton.training`` has it, slim.

`MMACTION_CONFIG` builds the same network in mmaction2, and the state dict that `export.py
--mmaction` writes loads there unchanged.
"""

from __future__ import annotations

from typing import Any

from perception.skeleton.training.architecture import SLIM

ARCHITECTURE = SLIM
SHAPE = SLIM.shape

MMACTION_CONFIG: dict[str, Any] = SLIM.mmaction_config()
