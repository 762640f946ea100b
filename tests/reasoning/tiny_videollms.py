"""Every family of VideoLLMs in miniature: random weights, a byte-level tokenizer, no download.

``save(name, folder)`` writes a model and its processor as a repository would hold them. Sizes are
chosen so that a 56×56 picture is a handful of tokens.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.reasoning.torchvision_operators import transformers

NAMES = ("qwen2_5_vl", "qwen3_vl", "llava_onevision", "internvl", "video_llama_3", "smolvlm")

TOKENS_PER_SECOND = 20
"""Of Qwen2.5-VL's rotary positions: fine enough to read times from."""

_TURN = (
    "{%% for message in messages %%}<|im_start|>{{ message.role }}\n"
    "{%% for part in message.content %%}{%% if part.type == 'video' %%}%s"
    "{%% else %%}{{ part.text }}{%% endif %%}{%% endfor %%}<|im_end|>\n{%% endfor %%}"
    "{%% if add_generation_prompt %%}<|im_start|>assistant\n{%% endif %%}"
)

_VIDEOS_FIRST = (
    "{% for message in messages %}<|im_start|>{{ message.role }} "
    "{% for part in message.content if part.type == 'video' %}<video>\n{% endfor %}"
    "{% for part in message.content if part.type == 'text' %}{{ part.text }}{% endfor %}"
    "<|im_end|>{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""LLaVA-OneVision's order: whatever comes first, videos are printed before the words."""

_ROLES = (
    "<|im_start|>{% for message in messages %}{{ message.role | capitalize }}: "
    "{% for part in message.content %}"
    "{% if part.type == 'video' %}<video>{% else %}{{ part.text }}{% endif %}{% endfor %}"
    "<end_of_utterance>\n{% endfor %}{% if add_generation_prompt %}Assistant:{% endif %}"
)

_TEXT = {
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 8192,
    "initializer_range": 0.5,
}
_SIGHT = {
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}


def save(name: str, folder: Path, seed: int = 0) -> Path:
    """Write the family's model and processor into ``folder``."""
    library = transformers()
    import torch

    torch.manual_seed(seed)
    processor, model = globals()[f"_{name}"](library)
    model.generation_config.eos_token_id = processor.tokenizer.eos_token_id
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def _tokenizer(library: Any, *special: str, **named: str) -> Any:
    """A token for each byte, and the special ones, of which ``named`` become attributes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytes_ = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    bytes_.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_.decoder = decoders.ByteLevel()
    return library.PreTrainedTokenizerFast(
        tokenizer_object=bytes_,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        extra_special_tokens={"turn_token": "<|im_start|>", **named}
        if named
        else ["<|im_start|>", *special],
    )


def _qwen2_5_vl(library: Any) -> tuple[Any, Any]:
    tokenizer = _tokenizer(
        library, "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"
    )
    size = {"shortest_edge": 28 * 28, "longest_edge": 56 * 56}
    processor = library.Qwen2_5_VLProcessor(
        library.Qwen2VLImageProcessor(size=size),
        tokenizer,
        library.Qwen2VLVideoProcessor(size=size, cap_pixels_per_frame=False),
        chat_template=_TURN % "<|vision_start|><|video_pad|><|vision_end|>",
    )
    rotary = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 1e4}
    config = library.Qwen2_5_VLConfig(
        text_config={**_TEXT, "vocab_size": len(tokenizer), "rope_parameters": rotary},
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 32,
            "num_heads": 2,
            "out_hidden_size": 32,
            "fullatt_block_indexes": [1],
            "window_size": 56,
            "tokens_per_second": TOKENS_PER_SECOND,
        },
        **_vision_ids(tokenizer),
    )
    return processor, library.Qwen2_5_VLForConditionalGeneration(config)


def _qwen3_vl(library: Any) -> tuple[Any, Any]:
    tokenizer = _tokenizer(
        library, "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"
    )
    size = {"shortest_edge": 32 * 32, "longest_edge": 64 * 64 * 64}
    processor = library.Qwen3VLProcessor(
        library.Qwen2VLImageProcessor(patch_size=16, size=size),
        tokenizer,
        library.Qwen3VLVideoProcessor(size=size, cap_pixels_per_frame=False),
        chat_template=_TURN % "<|vision_start|><|video_pad|><|vision_end|>",
    )
    rotary = {
        "rope_type": "default",
        "mrope_section": [1, 1, 2],
        "mrope_interleaved": True,
        "rope_theta": 1e4,
    }
    text = {**_TEXT, "vocab_size": len(tokenizer), "head_dim": 8, "rope_parameters": rotary}
    config = library.Qwen3VLConfig(
        text_config=text,
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 32,
            "num_heads": 2,
            "out_hidden_size": 32,
            "deepstack_visual_indexes": [0],
            "num_position_embeddings": 64,
        },
        **_vision_ids(tokenizer),
    )
    return processor, library.Qwen3VLForConditionalGeneration(config)


def _vision_ids(tokenizer: Any) -> dict[str, int]:
    names = {
        "image_token_id": "<|image_pad|>",
        "video_token_id": "<|video_pad|>",
        "vision_start_token_id": "<|vision_start|>",
        "vision_end_token_id": "<|vision_end|>",
    }
    return {name: tokenizer.convert_tokens_to_ids(token) for name, token in names.items()}


def _llava_onevision(library: Any) -> tuple[Any, Any]:
    tokenizer = _tokenizer(library, "<image>", "<video>")
    size = {"height": 28, "width": 28}
    processor = library.LlavaOnevisionProcessor(
        library.LlavaOnevisionImageProcessor(size=size, image_grid_pinpoints=[[28, 28]]),
        tokenizer,
        library.LlavaOnevisionVideoProcessor(size=size),
        num_image_tokens=4,
        vision_feature_select_strategy="full",
        chat_template=_VIDEOS_FIRST,
    )
    config = library.LlavaOnevisionConfig(
        text_config={**_TEXT, "model_type": "qwen2", "vocab_size": len(tokenizer)},
        vision_config={
            **_SIGHT,
            "model_type": "siglip_vision_model",
            "image_size": 28,
            "patch_size": 14,
        },
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        video_token_index=tokenizer.convert_tokens_to_ids("<video>"),
        image_grid_pinpoints=[[28, 28]],
    )
    return processor, library.LlavaOnevisionForConditionalGeneration(config)


def _internvl(library: Any) -> tuple[Any, Any]:
    tokenizer = _tokenizer(
        library,
        start_image_token="<img>",
        end_image_token="</img>",
        context_image_token="<IMG_CONTEXT>",
        video_token="<video>",
    )
    size = {"height": 28, "width": 28}
    processor = library.InternVLProcessor(
        library.GotOcr2ImageProcessor(size=size),
        tokenizer,
        library.InternVLVideoProcessor(size=size),
        image_seq_length=1,
        chat_template=_TURN % "<video>\n",
    )
    config = library.InternVLConfig(
        text_config={**_TEXT, "model_type": "qwen2", "vocab_size": len(tokenizer)},
        vision_config={**_SIGHT, "image_size": [28, 28], "patch_size": [14, 14]},
        image_token_id=tokenizer.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=1,
    )
    return processor, library.InternVLForConditionalGeneration(config)


def _video_llama_3(library: Any) -> tuple[Any, Any]:
    tokenizer = _tokenizer(library, image_token="<|image_pad|>", video_token="<|video_pad|>")
    size = {"shortest_edge": 28 * 28, "longest_edge": 56 * 56}
    processor = library.VideoLlama3Processor(
        library.VideoLlama3ImageProcessor(size=size),
        tokenizer,
        library.VideoLlama3VideoProcessor(size=size),
        chat_template=_TURN % "<|video_pad|>\n",
    )
    config = library.VideoLlama3Config(
        text_config={**_TEXT, "model_type": "qwen2", "vocab_size": len(tokenizer)},
        vision_config={**_SIGHT, "patch_size": 14},
        image_token_id=tokenizer.image_token_id,
        video_token_id=tokenizer.video_token_id,
    )
    return processor, library.VideoLlama3ForConditionalGeneration(config)


def _smolvlm(library: Any) -> tuple[Any, Any]:
    tokenizer = _tokenizer(
        library,
        image_token="<image>",
        fake_image_token="<fake_token_around_image>",
        global_image_token="<global-img>",
        end_of_utterance_token="<end_of_utterance>",
        video_token="<video>",
    )
    size = {"longest_edge": 32}
    processor = library.SmolVLMProcessor(
        library.SmolVLMImageProcessor(size=size, max_image_size=size),
        tokenizer,
        library.SmolVLMVideoProcessor(size=size, max_image_size=size),
        image_seq_len=4,
        chat_template=_ROLES,
    )
    config = library.SmolVLMConfig(
        text_config={
            **_TEXT,
            "model_type": "llama",
            "vocab_size": len(tokenizer),
            "pad_token_id": 0,
        },
        vision_config={**_SIGHT, "image_size": 32, "patch_size": 8},
        image_token_id=tokenizer.image_token_id,
        scale_factor=2,
    )
    return processor, library.SmolVLMForConditionalGeneration(config)
