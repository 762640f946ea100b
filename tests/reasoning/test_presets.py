"""The shipped presets: what they name, how one is chosen, and what ``cuelight models`` says."""

import importlib.util
import json
import re
from dataclasses import replace

import pytest

from perception import plugins
from perception.errors import BadInput, UnknownName
from reasoning import availability, presets
from reasoning.availability import Machine
from reasoning.cli import main
from reasoning.cli._choosing import model_settings
from reasoning.config import Config, load, parse
from reasoning.presets import Loader
from reasoning.videollms.huggingface import Options

URL = "http://localhost:1/v1"
PRESETS = [presets.load(name) for name in presets.names()]


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_a_preset_names_repository_revision_and_options_of_its_family(
    preset: presets.Preset,
) -> None:
    assert preset.family in plugins.names("reasoning.videollms")
    assert re.fullmatch(r"[\w.-]+/[\w.-]+", preset.repository)
    pinned = re.fullmatch(r"[0-9a-f]{40}", preset.revision) is not None
    assert pinned is bool(preset.revision_seen)
    assert (preset.loader is Loader.SERVER) is bool(preset.serve)
    assert preset.memory_gb > 0
    config = chosen(preset.name)
    assert config.videollms[config.videollm].model == preset.repository


def chosen(name: str, *overrides: str) -> Config:
    return load(None, [*model_settings(name, None), *overrides])


def test_the_papers_models_are_there_with_the_papers_settings() -> None:
    """MimeQA, Appendix C.2."""
    expected = {
        "qwen2.5-vl-72b": (2.0, 768),
        "llava-video-7b": (1.0, 384),
        "videollama3-7b": (1.0, 180),
    }
    for name, settings in expected.items():
        config = chosen(name)
        options = config.videollms[config.videollm]
        assert (options.frame_rate_hz, options.max_frames) == settings
        assert config.answer.max_new_tokens == 128


def test_single_settings_of_a_preset_can_be_changed() -> None:
    preset, changed = (
        chosen("qwen2.5-vl-7b", *more).videollms["huggingface"]
        for more in ((), ("videollms.huggingface.max_frames=16",))
    )
    assert changed == replace(preset, max_frames=16)
    text = (
        "videollm: huggingface\nvideollms: {huggingface: {preset: qwen2.5-vl-7b, max_frames: 16}}"
    )
    assert parse(text).videollms["huggingface"] == changed


def test_a_preset_takes_the_place_of_what_the_file_says_of_the_family() -> None:
    text = "videollms: {huggingface: {max_frames: 3, dtype: float16}}"
    config = parse(text, ["videollms.huggingface.preset=smolvlm2-2.2b"])
    assert config.videollms["huggingface"].max_frames == 64
    assert config.videollms["huggingface"].dtype == "auto"


def test_an_unknown_preset_or_one_of_another_family_is_named() -> None:
    with pytest.raises(UnknownName, match=r"Did you mean 'qwen2\.5-vl-7b'"):
        parse("videollms: {huggingface: {preset: qwen2.5-vl-8b}}")
    with pytest.raises(BadInput, match="one of openai_compatible"):
        parse("videollms: {huggingface: {preset: llava-video-7b}}")


@pytest.mark.parametrize(
    ("model", "base_url", "family", "named"),
    [
        ("embedded", None, "embedded", "smollm2_135m_instruct"),
        ("some/file.GGUF", None, "embedded", "some/file.GGUF"),
        ("Qwen/Qwen3-VL-4B-Instruct", None, "huggingface", "Qwen/Qwen3-VL-4B-Instruct"),
        ("qwen3-vl-4b", None, "huggingface", "Qwen/Qwen3-VL-4B-Instruct"),
        ("gpt-4o", None, "openai_compatible", "gpt-4o"),
        ("Qwen/Qwen3-VL", "http://localhost:1/v1", "openai_compatible", "Qwen/Qwen3-VL"),
        ("qwen3-vl-4b", "http://localhost:1/v1", "openai_compatible", "qwen3-vl-4b"),
        (
            "internvl2.5-8b",
            "http://localhost:1/v1",
            "openai_compatible",
            "OpenGVLab/InternVL2_5-8B",
        ),
    ],
)
def test_a_name_is_a_family_a_preset_a_file_a_repository_or_a_servers_model(
    model: str, base_url: str | None, family: str, named: str
) -> None:
    config = load(None, model_settings(model, base_url))
    assert config.videollm == family
    options = config.videollms[family]
    assert options.model == named
    if base_url is not None:
        assert options.base_url == base_url


def test_remote_code_is_trusted_only_when_told() -> None:
    told, untold = (
        load(None, model_settings("a/b", None, trusted)).videollms["huggingface"]
        for trusted in (True, False)
    )
    assert told == Options("a/b", trust_remote_code=True)
    assert untold == Options("a/b")


def packages(monkeypatch: pytest.MonkeyPatch, here: bool) -> None:
    """As if the packages of transformers' extra were here, or were not."""
    usual = importlib.util.find_spec

    def find(name: str, package: str | None = None) -> object:
        heavy = name in {"torch", "transformers", "accelerate", "torchvision"}
        return (object() if here else None) if heavy else usual(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find)


def test_whether_a_model_fits_is_told_from_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    packages(monkeypatch, here=True)
    large, small, served = map(presets.load, ("qwen2.5-vl-72b", "smolvlm2-500m", "llava-video-7b"))
    two_gpus, laptop = Machine(256, 2, 282), Machine(16)
    told = [
        availability.of_preset(preset, machine)
        for machine in (two_gpus, laptop)
        for preset in (large, small, served)
    ]
    assert [verdict.can_run for verdict in told] == [True, True, False, False, True, False]
    assert "2 GPUs" in told[0].why
    assert "147 GB of GPU memory, or 37 with quantize_bits=4" in told[3].why
    assert "on the CPU" in told[4].why
    assert "sglang" in told[2].why


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    packages(monkeypatch, here=False)
    verdict = availability.of_family("huggingface")
    assert not verdict.can_run
    assert "pip install 'cuelight[transformers]'" in verdict.why


def test_the_command_lists_all_families_and_presets(capsys: pytest.CaptureFixture[str]) -> None:
    for more in ([], ["--json"]):
        with pytest.raises(SystemExit) as ended:
            main(["models", *more])
        assert not ended.value.code
        told = capsys.readouterr().out
        for preset in PRESETS:
            assert preset.name in told
            assert preset.repository in told
        for family in plugins.names("reasoning.videollms"):
            assert family in told
    assert {"can_run", "why", "revision"} <= json.loads(told)["presets"][0].keys()
