"""What loading a model of mmaction2 and one of mmpose have in common."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from perception.errors import BadInput
from perception.skeleton.openmmlab.config_file import ConfigFile

__all__ = ["explained", "fill", "in_scope", "on_device", "on_threads", "quiet", "read_config"]

COUNTERS = "num_batches_tracked"
"""Weights that only training reads; checkpoints of old torch versions lack them."""


@contextmanager
def in_scope(package: str) -> Iterator[None]:
    """Within the block the names of ``package`` are found first."""
    from mmengine.registry import DefaultScope

    with DefaultScope.overwrite_default_scope(package):
        yield


@contextmanager
def quiet() -> Iterator[None]:
    """Within the block OpenMMLab tells nobody what it lacks (mmdet) or how it uses torch."""
    from mmengine.logging import MMLogger

    logger = MMLogger.get_current_instance()
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)


@contextmanager
def explained(config: ConfigFile, package: str) -> Iterator[None]:
    """What a config's code or a wrong key in it raises becomes a sentence.

    Raises:
        BadInput: the block raised; ``package`` cannot build the model.
    """
    try:
        yield
    except BadInput:
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise BadInput(
            f"{package} cannot build the model of the config {str(config.path)!r}: {reason}"
        ) from error


def read_config(config: ConfigFile) -> Any:
    """The config's settings, without what would download or train.

    Raises:
        BadInput: it cannot be read, or has no model.
    """
    from mmengine.config import Config

    try:
        settings = Config.fromfile(str(config.path))
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise BadInput(f"The config {str(config.path)!r} cannot be read: {reason}") from error
    if not isinstance(settings.get("model"), dict):
        raise BadInput(f"The config {str(config.path)!r} has no model.")
    settings.model.train_cfg = None
    for part in settings.model.values():
        if isinstance(part, dict):
            part.pop("init_cfg", None)
            part.pop("pretrained", None)
    return settings


def fill(model: Any, weights: Mapping[str, Any], checkpoint: Path, config: ConfigFile) -> None:
    """Give the model a checkpoint's weights.

    Raises:
        BadInput: they do not fit; names the first that does not.
    """
    misfit = f"The checkpoint {str(checkpoint)!r} does not fit the config {str(config.path)!r}"
    total = len(model.state_dict())
    try:
        result = model.load_state_dict(weights, strict=False)
    except RuntimeError as error:
        first = next((line.strip() for line in str(error).splitlines()[1:]), str(error))
        raise BadInput(f"{misfit}: {first}") from None
    missing = [name for name in result.missing_keys if not name.endswith(COUNTERS)]
    if missing:
        raise BadInput(
            f"{misfit}: it lacks {len(missing)} of the model's {total} weights, the first of them "
            f"{missing[0]!r}."
        )


def on_device(model: Any, device: str, package: str) -> Any:
    """The model on ``device``, ready to predict.

    Raises:
        BadInput: the device cannot be used.
    """
    import torch
    from mmengine.model.utils import revert_sync_batchnorm

    try:
        place = torch.device(device)
    except RuntimeError:
        raise BadInput(
            f"{package}'s device {device!r} is none of cpu, cuda, cuda:1 (a second graphics card) "
            "and mps."
        ) from None
    try:
        return revert_sync_batchnorm(model).to(place).eval()
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise BadInput(f"{package}'s device {device!r} cannot be used: {reason}") from None


@contextmanager
def on_threads(count: int) -> Iterator[None]:
    """Within the block torch works on so many threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
