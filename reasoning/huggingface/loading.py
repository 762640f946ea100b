"""A model and its processor in memory, or one sentence that says why not.

The processor comes first: it is small, and counts and shows a prompt without the weights, which are
loaded when the model is first asked. Two users of one checkpoint in the same settings share both:
they are loaded once in a process.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, RLock
from typing import Any

from perception.errors import BadInput, CuelightError, MissingExtra
from reasoning.huggingface.pixels import RememberedPixels
from reasoning.huggingface.refusals import explained, own_code

__all__ = ["Checkpoint", "Loaded", "is_commit", "load"]

_PURPOSE = "Running a VideoLLM with transformers"
_EXTRA = "transformers"
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What to load and how; equal ones are loaded once.

    Args:
        model: a repository on Hugging Face, or a folder.
        revision: a commit, tag or branch of the repository.
        trust_remote_code: whether the repository's own Python code may run.
        device: ``auto`` (a GPU if there is one), ``cpu``, ``cuda``, ``cuda:1`` or ``mps``.
        dtype: ``auto`` (bfloat16 on a GPU, float32 on a CPU) or a name of torch's.
        quantize_bits: 0, 4 or 8, by bitsandbytes.
        attention: transformers' name of the attention kernel.
    """

    model: str
    revision: str
    trust_remote_code: bool
    device: str
    dtype: str
    quantize_bits: int
    attention: str


@dataclass(slots=True, weakref_slot=True, eq=False)
class Loaded:
    """A checkpoint of which the processor is in memory, and the weights once they are needed.

    Args:
        torch: the package.
        checkpoint: what was loaded.
        config: of the model.
        processor: tokenizer, chat template and video part, which is a ``RememberedPixels``.
        turn: held by whoever uses processor or model.
    """

    torch: Any
    checkpoint: Checkpoint
    config: Any
    processor: Any
    turn: RLock = field(default_factory=RLock)
    _model: Any = None

    @property
    def family(self) -> str:
        """The config's ``model_type``, e.g. ``"qwen2_5_vl"``."""
        return str(self.config.model_type)

    @property
    def commit(self) -> str:
        """Of the repository; empty for a folder."""
        return str(getattr(self.config, "_commit_hash", None) or "")

    @property
    def model(self) -> Any:
        """At work on its device or devices, in evaluation mode; loaded by the first use.

        Raises:
            MissingExtra, BadInput, WeightsError: as ``load``.
        """
        if self._model is None:
            self._model = _weights(self.torch, self.checkpoint)
        return self._model

    @property
    def device(self) -> Any:
        """Where inputs go. Loads the model."""
        return self.model.get_input_embeddings().weight.device

    @property
    def dtype(self) -> str:
        """Of the weights, e.g. ``"bfloat16"``. Loads the model."""
        return str(self.model.dtype).removeprefix("torch.")


_loaded: weakref.WeakValueDictionary[Checkpoint, Loaded] = weakref.WeakValueDictionary()
_loading = Lock()


def load(checkpoint: Checkpoint) -> Loaded:
    """The processor, from memory if somebody in this process holds it already.

    Raises:
        MissingExtra: a package is not installed.
        BadInput: no such repository, folder or revision; packages that do not fit each other; a
            model that transformers does not run, or only with its own code.
        WeightsError: it cannot be fetched, or does not fit into memory.
    """
    with _loading:
        held = _loaded.get(checkpoint)
        if held is None:
            held = _loaded[checkpoint] = _load(checkpoint)
        return held


def is_commit(revision: str) -> bool:
    """Whether ``revision`` names one state of a repository for ever."""
    return _COMMIT.fullmatch(revision) is not None


def _load(checkpoint: Checkpoint) -> Loaded:
    torch, transformers = _packages()
    _place(torch, checkpoint)
    with _explaining(checkpoint):
        source = _source(checkpoint)
        config = transformers.AutoConfig.from_pretrained(checkpoint.model, **source)
        _check_architecture(transformers, checkpoint, config)
        processor = transformers.AutoProcessor.from_pretrained(checkpoint.model, **source)
    if getattr(processor, "video_processor", None) is None:
        raise BadInput(f"{checkpoint.model!r} takes no video: its processor has no video part.")
    processor.video_processor = RememberedPixels(processor.video_processor)
    return Loaded(torch, checkpoint, config, processor)


def _weights(torch: Any, checkpoint: Checkpoint) -> Any:
    transformers = importlib.import_module("transformers")
    device, dtype = _place(torch, checkpoint)
    with _explaining(checkpoint):
        model = transformers.AutoModelForImageTextToText.from_pretrained(
            checkpoint.model,
            dtype=dtype,
            attn_implementation=checkpoint.attention,
            **_spread(transformers, checkpoint, device),
            **_source(checkpoint),
        )
        if not hasattr(model, "hf_device_map"):
            model = model.to(device)
    return model.eval()


def _source(checkpoint: Checkpoint) -> dict[str, Any]:
    source: dict[str, Any] = {"trust_remote_code": checkpoint.trust_remote_code}
    if not _is_folder(checkpoint.model):
        source["revision"] = checkpoint.revision
    return source


@contextlib.contextmanager
def _explaining(checkpoint: Checkpoint) -> Iterator[None]:
    """What transformers raises in the block, as a sentence."""
    try:
        yield
    except CuelightError:
        raise
    except Exception as error:
        raise explained(checkpoint.model, checkpoint.revision, error) from error


def _packages() -> tuple[Any, Any]:
    """Torch and transformers, with torchvision working."""
    for package in ("torch", "transformers", "accelerate", "torchvision"):
        try:
            importlib.import_module(package)
        except ModuleNotFoundError as error:
            raise MissingExtra(error.name or package, _EXTRA, _PURPOSE) from None
        except Exception as error:
            reason = " ".join(str(error).split())
            raise BadInput(
                f"{package} does not import ({reason}); torch and torchvision must be of one "
                f"release and for one device: pip install --force-reinstall torch torchvision"
            ) from error
    return importlib.import_module("torch"), importlib.import_module("transformers")


def _place(torch: Any, checkpoint: Checkpoint) -> tuple[str, Any]:
    device = checkpoint.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise BadInput(f"device is {device!r}, and torch finds no CUDA GPU here; set it to cpu.")
    if device == "mps" and not torch.backends.mps.is_available():
        raise BadInput("device is 'mps', and torch finds no Apple GPU here; set it to cpu.")
    dtype = checkpoint.dtype
    if dtype == "auto":
        dtype = "float32" if device == "cpu" else "bfloat16"
    return device, getattr(torch, dtype)


def _spread(transformers: Any, checkpoint: Checkpoint, device: str) -> dict[str, Any]:
    """Over all GPUs when the device is left open; quantized where that is wished."""
    settings: dict[str, Any] = {}
    if device == "cuda" or checkpoint.quantize_bits:
        settings["device_map"] = "auto" if device == "cuda" else device
    if checkpoint.quantize_bits:
        try:
            importlib.import_module("bitsandbytes")
        except ImportError:
            raise MissingExtra("bitsandbytes", "quantized", "A quantized model") from None
        bits = {f"load_in_{checkpoint.quantize_bits}bit": True}
        settings["quantization_config"] = transformers.BitsAndBytesConfig(**bits)
    return settings


def _check_architecture(transformers: Any, checkpoint: Checkpoint, config: Any) -> None:
    """That transformers runs what the repository holds.

    A published ``LlavaQwenForCausalLM`` calls itself a ``llava`` and would load with most weights
    random.
    """
    named = list(getattr(config, "architectures", None) or ())
    brings_code = bool(getattr(config, "auto_map", None))
    unknown = [name for name in named if not hasattr(transformers, name)]
    if unknown and brings_code and not checkpoint.trust_remote_code:
        raise own_code(checkpoint.model)
    if unknown and not brings_code:
        raise BadInput(
            f"{checkpoint.model!r} is a {unknown[0]}, which transformers does not run. Use a "
            f"converted repository (cuelight models lists some), or a server that runs it "
            f"(vLLM, SGLang) with --base-url."
        )


def _is_folder(model: str) -> bool:
    return Path(model).expanduser().is_dir()
