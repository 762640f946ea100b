"""Starts llama.cpp's own server inside this process, on a free port of 127.0.0.1."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

from perception.errors import CuelightError
from perception.limits import usable_threads

__all__ = ["LOOPBACK", "ModelUnavailable", "start"]

LOOPBACK = "127.0.0.1"

_LOOPBACK_TIMEOUT_S = 5.0

_GGUF_MAGIC = b"GGUF"


class ModelUnavailable(CuelightError):
    """The model could not be loaded, or its server stopped."""


def start(model: Path, projector: Path | None, context_tokens: int, threads: int, key: str) -> Any:
    """``xllamacpp.Server`` of a GGUF model, alone at work: one slot, no cache beside it.

    Args:
        projector: the GGUF file that makes tokens of pictures (``mmproj``); None = text only.
        key: that requests must bring.

    Raises:
        ModelUnavailable: a file is no GGUF file or cannot be loaded; or the loopback interface is
            down.
    """
    for file in filter(None, (model, projector)):
        _check_is_gguf(file)
    _check_loopback()
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(model)
    settings.mmproj.path = str(projector or "")
    settings.mmproj_use_gpu = False
    settings.hostnames = [LOOPBACK]
    settings.port = 0
    settings.api_keys = [key]
    settings.ui = False
    settings.endpoint_slots = False
    settings.verbosity = 0
    settings.n_ctx = context_tokens
    settings.n_gpu_layers = 0
    settings.fit_params = False
    settings.warmup = False
    settings.n_parallel = 1
    settings.cache_ram_mib = 0
    settings.n_ctx_checkpoints = 0
    settings.ctx_shift = False
    for pool in (settings.cpuparams, settings.cpuparams_batch):
        pool.n_threads = usable_threads(threads)
        pool.poll = 0
    settings.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    try:
        return xllamacpp.Server(settings)
    except (RuntimeError, ValueError) as error:
        files = " with ".join(repr(str(file)) for file in filter(None, (model, projector)))
        raise ModelUnavailable(
            f"llama.cpp cannot load {files}: {str(error).rstrip(chr(46))}."
        ) from error


def _check_loopback() -> None:
    """Without it llama.cpp's server waits for itself for ever."""
    try:
        with (
            socket.create_server((LOOPBACK, 0)) as listening,
            socket.create_connection(listening.getsockname(), _LOOPBACK_TIMEOUT_S),
        ):
            pass
    except OSError as error:
        raise ModelUnavailable(
            f"The model is spoken to over {LOOPBACK}, and this machine's loopback interface does "
            f"not work ({error.strerror or error}); bring it up, e.g. with: ip link set lo up."
        ) from error


def _check_is_gguf(model: Path) -> None:
    try:
        with model.open("rb") as file:
            magic = file.read(len(_GGUF_MAGIC))
    except OSError as error:
        raise ModelUnavailable(f"Cannot read the model {str(model)!r}: {error}.") from error
    if magic != _GGUF_MAGIC:
        raise ModelUnavailable(f"{str(model)!r} is not a GGUF file: it starts with {magic!r}.")
