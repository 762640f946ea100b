"""What ``cuelight doctor`` tells of an installation and of a config."""

from __future__ import annotations

import http.server
import importlib.util
import re
import sys
import threading
from collections.abc import Callable
from importlib.metadata import requires
from pathlib import Path

import pytest

from perception.shipped import shipped
from perception.skeleton.openmmlab.stack import SECOND_COMMAND
from reasoning import config, doctor
from reasoning.doctor import Finding, Level
from reasoning.doctor_config import examine_config

OPENCVS = ("opencv-python", "opencv-contrib-python")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes a distribution look installed."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(name: str) -> None:
        folder = tmp_path / f"{name.replace('-', '_')}-9.9.dist-info"
        folder.mkdir()
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.9\n"
        (folder / "METADATA").write_text(text)

    return make


def problems(findings: list[Finding], job: str) -> list[Finding]:
    return [each for each in findings if each.level is Level.PROBLEM and each.job.startswith(job)]


def test_one_owner_of_cv2_is_fine() -> None:
    assert problems(list(doctor.examine()), "install") == []


def test_two_owners_of_cv2_are_a_problem_with_its_remedy(
    installed: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in OPENCVS:
        installed(name)
    real = importlib.util.find_spec
    for mmcv, remedy in ((None, "--no-deps opencv-python-headless"), (True, SECOND_COMMAND)):
        monkeypatch.setattr(
            importlib.util,
            "find_spec",
            lambda n, *a, mmcv=mmcv: mmcv if n == "mmcv" else real(n, *a),
        )
        (found,) = doctor._opencv_owners()
        assert found.level is Level.PROBLEM
        assert all(name in found.text for name in OPENCVS)
        assert remedy in found.remedy


def test_every_package_of_every_extra_is_told_of() -> None:
    """Those of openmmlab are told in one line, those of test not at all."""
    marked = [
        re.match(r"([\w-]+).*extra == '([\w-]+)'", each) for each in requires("cuelight") or ()
    ]
    extras = [each.groups() for each in marked if each and each[2] not in ("test", "openmmlab")]
    assert {"train", "studies", "quantized"} <= {extra for _, extra in extras}
    assert {name for name, _ in extras} <= {each.text.split()[0] for each in doctor.examine()}


def of_config(text: str) -> list[Finding]:
    return list(examine_config(config.parse(text)))


def test_the_default_config_can_run_here() -> None:
    findings = list(examine_config(config.load()))
    assert [each for each in findings if each.level is Level.PROBLEM] == []
    assert {each.job for each in findings} == {
        "recognizer action",
        "recognizer screen_text",
        "recognizer speech",
        "model embedded",
    }


@pytest.mark.parametrize("name", ["mimeqa_posec3d", "all_cues"])
def test_the_papers_configs_are_read_and_told_of(name: str) -> None:
    read = config.load(shipped("configs") / f"{name}.yaml")
    options = read.recognizers["action"]
    assert (options.window_s, options.stride_s, options.merge) == (10, 10, False)
    assert (options.runtime, options.people) == ("mmaction2", "together")
    assert read.fusion.thresholds["action"] == 0.6
    assert read.videollms["huggingface"].model == "Qwen/Qwen2.5-VL-72B-Instruct"
    assert read.videollms["huggingface"].max_frames == 768
    jobs = {each.job for each in examine_config(read)}
    assert jobs == {*(f"recognizer {each}" for each in read.recognizers), "model huggingface"}


def test_our_extension_adds_text_and_speech_of_the_papers() -> None:
    read = config.load(shipped("configs") / "all_cues.yaml")
    assert (read.recognizers["screen_text"].backend, read.recognizers["screen_text"].rate_hz) == (
        "easyocr",
        1.0,
    )
    assert read.recognizers["speech"].backend == "openai_whisper"
    alone = config.load(shipped("configs") / "mimeqa_posec3d.yaml")
    assert list(alone.recognizers) == ["action"]
    assert alone.recognizers["action"].runtimes == read.recognizers["action"].runtimes


def test_a_missing_extra_is_told_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    hidden = {"easyocr", "mmaction"}
    for name in hidden:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda n, *a: None if n in hidden else real(n, *a)
    )
    findings = of_config(
        "recognizers: {action: {runtime: mmaction2}, screen_text: {backend: easyocr}}"
    )
    (action,) = problems(findings, "recognizer action")
    assert "pip install 'cuelight[openmmlab]'" in action.remedy
    assert SECOND_COMMAND in action.remedy
    (text,) = problems(findings, "recognizer screen_text")
    assert text.remedy == "pip install 'cuelight[easyocr]'"


def test_what_an_option_names_and_is_not_there_is_told() -> None:
    findings = of_config("recognizers: {action: {runtimes: {onnx: {checkpoint: absent.onnx}}}}")
    (found,) = problems(findings, "recognizer action")
    assert "absent.onnx" in found.text


def test_whether_a_server_on_this_machine_listens_is_told() -> None:
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}/v1"
    text = (
        "recognizers: {}\nvideollm: openai_compatible\n"
        f"videollms: {{openai_compatible: {{model: any, base_url: '{address}'}}}}"
    )
    listening = of_config(text)
    server.shutdown()
    server.server_close()
    assert problems(listening, "model") == []
    assert f"a server listens at {address}" in [each.text for each in listening]
    (found,) = problems(of_config(text), "model")
    assert found.text == f"no server listens at {address}"


def test_a_model_that_does_not_fit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "recognizers: {}\nvideollm: huggingface\nvideollms: {huggingface: {preset: qwen2.5-vl-72b}}"
    )
    for have, fits in ((24.0, False), (160.0, True)):
        monkeypatch.setattr("reasoning.doctor_config._graphics_gb", lambda have=have: have)
        told = [each for each in of_config(text) if "147 GB of weights" in each.text]
        assert [each.level is Level.OK for each in told] == [fits]
