"""Writes a Whisper checkpoint in OpenAI's format from one in CTranslate2's: the same numbers, which
are 16-bit floats in both, under OpenAI's names. Needs torch."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]

DTYPES = (np.float32, np.int8, np.int16, np.int32, np.float16)
"""By CTranslate2's number of a type."""

AUDIO_CONTEXT = 1500
PARTS = (
    ("self_attention/layer_norm", "attn_ln"),
    ("attention/layer_norm", "cross_attn_ln"),
    ("ffn/layer_norm", "mlp_ln"),
    ("ffn/linear_0", "mlp.0"),
    ("ffn/linear_1", "mlp.2"),
)


def write_openai_checkpoint(ctranslate2_folder: Path, target: Path) -> Path:
    """Write ``target`` (a ``.pt`` file) from a folder with ``model.bin``; return its path."""
    import torch

    arrays = _read(ctranslate2_folder / "model.bin")
    state: Arrays = {}
    for side in ("encoder", "decoder"):
        state[f"{side}.positional_embedding"] = arrays[f"{side}/position_encodings/encodings"]
        for number in range(_layers(arrays, side)):
            state |= _layer(arrays, f"{side}/layer_{number}/", f"{side}.blocks.{number}.")
    for conv in ("conv1", "conv2"):
        state |= _pair(arrays, f"encoder/{conv}", f"encoder.{conv}")
    state |= _pair(arrays, "encoder/layer_norm", "encoder.ln_post")
    state |= _pair(arrays, "decoder/layer_norm", "decoder.ln")
    state["decoder.token_embedding.weight"] = arrays["decoder/embeddings/weight"]
    vocabulary, width = arrays["decoder/embeddings/weight"].shape
    dims = {
        "n_mels": arrays["encoder/conv1/weight"].shape[1],
        "n_audio_ctx": AUDIO_CONTEXT,
        "n_audio_state": width,
        "n_audio_head": int(arrays["encoder/num_heads"]),
        "n_audio_layer": _layers(arrays, "encoder"),
        "n_vocab": vocabulary,
        "n_text_ctx": len(arrays["decoder/position_encodings/encodings"]),
        "n_text_state": width,
        "n_text_head": int(arrays["decoder/num_heads"]),
        "n_text_layer": _layers(arrays, "decoder"),
    }
    tensors = {name: torch.from_numpy(array.copy()) for name, array in state.items()}
    torch.save({"dims": dims, "model_state_dict": tensors}, target)
    return target


def _layers(arrays: Arrays, side: str) -> int:
    return len(
        {name.split("/")[1] for name in arrays if name.startswith(f"{side}/layer_")}
        - {"layer_norm"}
    )


def _layer(arrays: Arrays, source: str, target: str) -> Arrays:
    state: Arrays = {}
    for theirs, ours in PARTS:
        if f"{source}{theirs}/gamma" in arrays or f"{source}{theirs}/weight" in arrays:
            state |= _pair(arrays, source + theirs, target + ours)
    state |= _attention(arrays, f"{source}self_attention/", f"{target}attn.", ("qkv", "out"))
    if f"{source}attention/linear_0/weight" in arrays:
        state |= _attention(
            arrays, f"{source}attention/", f"{target}cross_attn.", ("q", "kv", "out")
        )
    return state


def _attention(arrays: Arrays, source: str, target: str, linears: tuple[str, ...]) -> Arrays:
    """Take apart the layers that CTranslate2 joins; the key's bias is zero and left out."""
    names = {"q": "query", "k": "key", "v": "value"}
    state: Arrays = {}
    for number, joined in enumerate(linears):
        parts = ["out"] if joined == "out" else [names[letter] for letter in joined]
        for kind in ("weight", "bias"):
            pieces = np.split(arrays[f"{source}linear_{number}/{kind}"], len(parts))
            for part, piece in zip(parts, pieces, strict=True):
                state[f"{target}{part}.{kind}"] = piece
    del state[f"{target}key.bias"]
    return state


def _pair(arrays: Arrays, source: str, target: str) -> Arrays:
    first, second = ("gamma", "beta") if f"{source}/gamma" in arrays else ("weight", "bias")
    return {
        f"{target}.weight": arrays[f"{source}/{first}"],
        f"{target}.bias": arrays[f"{source}/{second}"],
    }


def _read(path: Path) -> Arrays:
    """The arrays of a CTranslate2 model file (its format of binary version 6)."""
    arrays: Arrays = {}
    with path.open("rb") as file:
        (version,) = _unpack(file, "I")
        assert version == 6, version
        _text(file)
        _, count = _unpack(file, "II")
        for _ in range(count):
            name = _text(file)
            (rank,) = _unpack(file, "B")
            shape = _unpack(file, f"{rank}I")
            kind, size = _unpack(file, "BI")
            arrays[name] = np.frombuffer(file.read(size), DTYPES[kind]).reshape(shape)
    return arrays


def _unpack(file: BinaryIO, layout: str) -> tuple[int, ...]:
    return struct.unpack(f"<{layout}", file.read(struct.calcsize(f"<{layout}")))


def _text(file: BinaryIO) -> str:
    (length,) = _unpack(file, "H")
    return file.read(length).rstrip(b"\0").decode()
