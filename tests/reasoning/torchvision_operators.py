"""Lets torchvision import beside a torch whose build it does not fit, as in tests on a CPU.

The package index has torch for CPUs and torchvision for GPUs; the latter's compiled operators are
then missing, and its import fails on the first whose name torch does not know. No video processor
calls any of them.
"""

from __future__ import annotations

from typing import Any

import pytest

_NAMES = (
    "nms",
    "qnms",
    "roi_align",
    "_roi_align_backward",
    "roi_pool",
    "_roi_pool_backward",
    "ps_roi_align",
    "_ps_roi_align_backward",
    "ps_roi_pool",
    "_ps_roi_pool_backward",
    "deform_conv2d",
    "_deform_conv2d_backward",
)

_library: list[Any] = []


def define(torch: Any) -> None:
    """Define the operators' names unless a torchvision that fits has done so."""
    if not _library and not hasattr(torch.ops.torchvision, "nms"):
        library = torch.library.Library("torchvision", "DEF")
        for name in _NAMES:
            library.define(f"{name}(Tensor x) -> Tensor")
        _library.append(library)


def transformers() -> Any:
    """The package, or a skip that names the extra."""
    torch = pytest.importorskip("torch", reason="needs the extra: transformers")
    for name in ("transformers", "accelerate", "num2words"):
        pytest.importorskip(name, reason="needs the extra: transformers")
    define(torch)
    pytest.importorskip("torchvision", reason="needs the extra: transformers")
    return pytest.importorskip("transformers")
