"""A projector with random weights (LLaVA's kind: a CLIP tower and two linear layers), for a text
model that is there anyway. What comes out means nothing, but depends on the pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np

TEXT_DIM = 576
"""SmolLM2-135M's."""
SIDE_PX, PATCH_PX = 32, 16
PICTURE_TOKENS = (SIDE_PX // PATCH_PX) ** 2
"""One for each patch."""

_DIM, _LAYERS = 32, 2


def write_projector(path: Path, text_dim: int = TEXT_DIM) -> Path:
    """A GGUF file as llama.cpp takes it beside a model with embeddings of ``text_dim``."""
    import gguf

    file = gguf.GGUFWriter(path, "clip")
    file.add_type("mmproj")
    file.add_string("clip.projector_type", "mlp")
    for name, flag in {"has_vision_encoder": True, "use_gelu": True}.items():
        file.add_bool(f"clip.{name}", flag)
    sizes = {
        "image_size": SIDE_PX,
        "patch_size": PATCH_PX,
        "embedding_length": _DIM,
        "feed_forward_length": 2 * _DIM,
        "projection_dim": text_dim,
        "block_count": _LAYERS,
        "attention.head_count": 2,
    }
    for name, size in sizes.items():
        file.add_uint32(f"clip.vision.{name}", size)
    file.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-6)
    for name in ("image_mean", "image_std"):
        file.add_array(f"clip.vision.{name}", [0.5] * 3)
    random = np.random.default_rng(0)
    for name, shape in _shapes(text_dim).items():
        spread = 1.0 if "ln" in name else 0.3
        weights = random.standard_normal(shape) * spread
        file.add_tensor(name, weights.astype(np.float32))
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return path


def _shapes(text_dim: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {
        "v.patch_embd.weight": (_DIM, 3, PATCH_PX, PATCH_PX),
        "v.class_embd": (_DIM,),
        "v.position_embd.weight": (PICTURE_TOKENS + 1, _DIM),
        "v.pre_ln.weight": (_DIM,),
        "v.pre_ln.bias": (_DIM,),
        "v.post_ln.weight": (_DIM,),
        "v.post_ln.bias": (_DIM,),
        "mm.0.weight": (text_dim, _DIM),
        "mm.0.bias": (text_dim,),
        "mm.2.weight": (text_dim, text_dim),
        "mm.2.bias": (text_dim,),
    }
    for layer in range(_LAYERS):
        inner = {
            "attn_q": (_DIM, _DIM),
            "attn_k": (_DIM, _DIM),
            "attn_v": (_DIM, _DIM),
            "attn_out": (_DIM, _DIM),
            "ffn_up": (2 * _DIM, _DIM),
            "ffn_down": (_DIM, 2 * _DIM),
        }
        for name, shape in inner.items():
            shapes[f"v.blk.{layer}.{name}.weight"] = shape
            shapes[f"v.blk.{layer}.{name}.bias"] = shape[:1]
        for name in ("ln1", "ln2"):
            shapes[f"v.blk.{layer}.{name}.weight"] = (_DIM,)
            shapes[f"v.blk.{layer}.{name}.bias"] = (_DIM,)
    return shapes
