"""Which model a command uses: ``--model``, ``--base-url`` and ``--trust-remote-code`` as settings
of the config."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from perception import plugins
from reasoning import presets

__all__ = ["BaseUrl", "Model", "TrustRemoteCode", "model_settings"]

Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help="A family (embedded), a preset (qwen2.5-vl-7b, see cuelight models), a .gguf file, a "
        "repository of Hugging Face or its folder, or the name of a model on a server (gpt-4o).",
    ),
]

BaseUrl = Annotated[
    str | None,
    typer.Option(help="An OpenAI-compatible server, e.g. http://localhost:8000/v1."),
]

TrustRemoteCode = Annotated[
    bool,
    typer.Option(
        "--trust-remote-code", help="Run Python code of the model's repository, at its commit."
    ),
]

_SERVER = "openai_compatible"


def model_settings(
    model: str | None, base_url: str | None, trust_remote_code: bool = False
) -> list[str]:
    """What the options say, as overrides ``key.path=value``. A name that is nothing else is taken
    for a model on a server."""
    chosen = _of_model(model, base_url)
    if base_url is not None:
        chosen.append(f"videollms.{_SERVER}.base_url={_quoted(base_url)}")
    if trust_remote_code:
        chosen.append("videollms.huggingface.trust_remote_code=true")
    return chosen


def _of_model(model: str | None, base_url: str | None) -> list[str]:
    if model is None:
        return [] if base_url is None else [f"videollm={_SERVER}"]
    family = presets.load(model).family if model in presets.names() else ""
    if family and (base_url is None or family == _SERVER):
        return [f"videollm={family}", f"videollms.{family}.preset={_quoted(model)}"]
    if base_url is not None:
        return _named(_SERVER, model)
    if model in plugins.names("reasoning.videollms"):
        return [f"videollm={model}"]
    if model.lower().endswith(".gguf"):
        return _named("embedded", model)
    if "/" in model or Path(model).is_dir():
        return _named("huggingface", model)
    return _named(_SERVER, model)


def _named(family: str, model: str) -> list[str]:
    return [f"videollm={family}", f"videollms.{family}.model={_quoted(model)}"]


def _quoted(text: str) -> str:
    """``text`` as a YAML value that is this very string, whatever characters it holds."""
    escaped = text.encode("unicode_escape").decode("ascii").replace('"', '\\"')
    return f'"{escaped}"'
