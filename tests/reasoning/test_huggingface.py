"""One model of each family at work: likelihoods, words, shared prefixes, limits and errors."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusion.question import Question
from perception.errors import BadInput, MissingExtra, UnknownName
from perception.recognizer import Frame
from reasoning.answer import Answer, Failure, FailureKind
from reasoning.ask import ask
from reasoning.cli import main
from reasoning.prompt import letter
from reasoning.videollm import Frames, FrameSampling, Part, Request, Text
from reasoning.videollms.huggingface import HuggingFace, Options, build
from tests.perception import clips
from tests.reasoning import tiny_videollms as tiny
from tests.reasoning.torchvision_operators import transformers

OPTIONS = ("a rope", "a dog", "nothing")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    saved: dict[str, str] = {}

    def get(name: str) -> str:
        if name not in saved:
            saved[name] = str(tiny.save(name, tmp_path_factory.mktemp(name)))
        return saved[name]

    return get


def frames(seed: int = 0, count: int = 4) -> Frames:
    random = np.random.default_rng(seed)
    return Frames(
        tuple(
            Frame(0.5 * number, random.integers(0, 255, (56, 56, 3), dtype=np.uint8))
            for number in range(count)
        )
    )


VIDEO, OTHER = frames(1), frames(2)


def asked(*parts: Part | str, options: Sequence[str] = OPTIONS, **limits: Any) -> Request:
    texts = [Text(part) if isinstance(part, str) else part for part in parts]
    return Request(tuple(texts), tuple(options), **limits)


QUESTIONS = {
    "bare": asked("Look.", VIDEO, "What is it?"),
    "with cues": asked("Look.", VIDEO, "- 0:01 a rope", "What is it?"),
    "another question": asked("Look.", VIDEO, "Who is it?"),
    "cues first": asked("Look.", "- 0:01 a rope", VIDEO, "What is it?"),
    "another video": asked("Look.", OTHER, "What is it?"),
    "blind": asked("Look.", "What is it?"),
}


def log_likelihoods(reply: Answer | Failure) -> list[float]:
    assert isinstance(reply, Answer)
    return [score.log_likelihood for score in reply.option_scores]


@pytest.mark.parametrize("name", tiny.NAMES)
def test_the_same_request_scores_the_same_cold_warm_and_in_any_order(
    name: str, folder: Callable[[str], str]
) -> None:
    cold = {}
    for what, request in QUESTIONS.items():
        alone = build(Options(folder(name), prefixes=0))
        cold[what] = log_likelihoods(alone.answer(request))
        alone.close()
    warm = build(Options(folder(name)))
    for order in (list(QUESTIONS), [*reversed(QUESTIONS)], ["bare", "bare", "blind", "bare"]):
        for what in order:
            assert log_likelihoods(warm.answer(QUESTIONS[what])) == cold[what], what
            warm.answer(asked(*QUESTIONS[what].parts, options=(), max_new_tokens=5))
    assert len({tuple(values) for values in cold.values()}) == len(QUESTIONS)


def test_it_scores_the_same_after_a_restart(folder: Callable[[str], str]) -> None:
    model = build(Options(folder("qwen2_5_vl")))
    model.answer(QUESTIONS["with cues"])
    here = log_likelihoods(model.answer(QUESTIONS["bare"]))
    code = (
        "from tests.reasoning.torchvision_operators import transformers\ntransformers()\n"
        "from tests.reasoning.test_huggingface import QUESTIONS, log_likelihoods\n"
        "from reasoning.videollms.huggingface import Options, build\n"
        f"print(log_likelihoods(build(Options({folder('qwen2_5_vl')!r})).answer(QUESTIONS['bare'])))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout.strip().splitlines()[-1]) == here


@pytest.mark.parametrize("name", tiny.NAMES)
def test_questions_about_one_video_share_its_pixels_and_its_prefix(
    name: str, folder: Callable[[str], str]
) -> None:
    model = build(Options(folder(name)))
    loaded, engine = model._loaded()[0], model._at_work()
    pixels = loaded.processor.video_processor
    before = pixels.made
    for what in ("bare", "with cues", "another question", "bare"):
        model.answer(QUESTIONS[what])
        model.count(QUESTIONS[what])
    assert (pixels.made - before, engine.prefixes_read) == (1, 1)
    model.answer(QUESTIONS["another video"])
    assert (pixels.made - before, engine.prefixes_read) == (2, 2)


def by_the_library(name: str, model: HuggingFace, request: Request) -> tuple[Any, list[int]]:
    """Log probabilities [vocabulary] behind the prompt, and ten greedy tokens, of transformers'
    own forward pass and ``generate`` over the whole prompt at once."""
    import torch

    loaded = model._loaded()[0]
    prepared = model.prepare(request)
    vision = dict(prepared.vision)
    if name.startswith("qwen"):
        is_video = prepared.ids == loaded.processor.video_token_id
        vision["mm_token_type_ids"] = 2 * is_video.int()
    if name == "qwen2_5_vl":
        vision["second_per_grid_ts"] = [1.0]
    with torch.inference_mode():
        logits = loaded.model(input_ids=prepared.ids, **vision).logits[0, -1]
        made = loaded.model.generate(
            input_ids=prepared.ids,
            attention_mask=torch.ones_like(prepared.ids),
            max_new_tokens=10,
            do_sample=False,
            **vision,
        )
    return logits.double().log_softmax(-1), made[0, prepared.ids.shape[1] :].tolist()


@pytest.mark.parametrize("name", tiny.NAMES)
def test_a_prompt_read_in_two_pieces_gives_what_the_library_gives(
    name: str, folder: Callable[[str], str]
) -> None:
    model = build(Options(folder(name)))
    expected, _ = by_the_library(name, model, QUESTIONS["with cues"])
    reply = model.answer(QUESTIONS["with cues"])
    tokenizer = model._loaded()[0].processor.tokenizer
    space = " " if name == "smolvlm" else ""
    for index, value in enumerate(log_likelihoods(reply)):
        ids = tokenizer(f"{space}{letter(index)}", add_special_tokens=False)["input_ids"]
        if len(ids) == 1:
            assert value == pytest.approx(float(expected[ids[0]]), abs=2e-4)
    free = asked(*QUESTIONS["with cues"].parts, options=(), max_new_tokens=10)
    _, words = by_the_library(name, model, free)
    said = model._at_work().say(model.prepare(free), 10, 0.0, 0, ())
    assert list(said.ids) == words


def test_an_options_letter_of_several_tokens_is_scored_token_by_token(
    folder: Callable[[str], str],
) -> None:
    model = build(Options(folder("qwen3_vl")))
    many = asked("Look.", VIDEO, "What?", options=[f"option {n}" for n in range(30)])
    reply = model.answer(many)
    assert isinstance(reply, Answer)
    assert [score.tokens for score in reply.option_scores] == [1] * 26 + [2] * 4
    prepared, engine = model.prepare(many), model._at_work()
    ids = model._loaded()[0].processor.tokenizer("AB", add_special_tokens=False)["input_ids"]
    (first,), (both,) = (engine.log_likelihoods(prepared, [each]) for each in (ids[:1], ids))
    assert both[0] == first[0]
    assert reply.option_scores[27].log_likelihood == sum(both)
    assert sum(score.probability for score in reply.option_scores) == pytest.approx(1)


def test_sampling_depends_on_the_seed_alone(folder: Callable[[str], str]) -> None:
    model = build(Options(folder("qwen3_vl")))

    def said(seed: int, temperature: float = 2.0) -> Answer | Failure:
        parts = QUESTIONS["bare"].parts
        limits = {"max_new_tokens": 12, "temperature": temperature, "seed": seed}
        return model.answer(asked(*parts, options=(), **limits))

    assert said(1) == said(1)
    assert said(1) != said(2)
    assert said(1) != said(1, temperature=0.0)


def test_an_answer_ends_where_the_model_ends_its_turn(folder: Callable[[str], str]) -> None:
    model = build(Options(folder("internvl")))
    prepared = model.prepare(asked("Look.", VIDEO, "What?", options=()))
    engine = model._at_work()
    whole = engine.say(prepared, 8, 0.0, 0, ())
    assert (len(whole.ids), whole.complete) == (8, False)
    third = whole.ids[2]
    cut = engine.say(prepared, 8, 0.0, 0, (third,))
    assert cut.complete
    assert cut.ids == whole.ids[: whole.ids.index(third)]


def test_a_turn_without_a_word_is_a_failure(
    folder: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = build(Options(folder("internvl")))
    free = asked("Look.", VIDEO, "What?", options=(), max_new_tokens=8)
    loaded, engine = model._loaded()[0], model._at_work()
    (first,) = engine.say(model.prepare(free), 1, 0.0, 0, ()).ids
    monkeypatch.setattr(loaded.model.generation_config, "eos_token_id", first)
    reply = model.answer(free)
    assert isinstance(reply, Failure)
    assert (reply.kind, "ended its turn" in reply.reason) == (FailureKind.TRUNCATED, True)


def test_the_record_tells_model_settings_and_tokens(folder: Callable[[str], str]) -> None:
    model = build(Options(folder("qwen2_5_vl"), video_settings={"cap_pixels_per_frame": True}))
    sent = model.answer(QUESTIONS["with cues"]).request
    assert sent["parts"][1] == {"frame_times_s": [0.0, 0.5, 1.0, 1.5]}
    assert sent["model"] == folder("qwen2_5_vl")
    assert (sent["family"], sent["dtype"], sent["device"]) == ("qwen2_5_vl", "float32", "cpu")
    assert sent["video_settings"] == {"cap_pixels_per_frame": True}
    assert sent["video_grid"] == [2, 4, 4]
    prepared = model.prepare(QUESTIONS["with cues"])
    assert sent["prompt_tokens"] == model.count(QUESTIONS["with cues"]).tokens
    assert sent["prompt_tokens"] == prepared.ids.shape[1]
    assert sent["prefix_tokens"] == prepared.cut
    assert json.loads(json.dumps(sent)) == sent


def test_a_draft_shows_the_prompt_as_the_model_reads_it(folder: Callable[[str], str]) -> None:
    drafted = build(Options(folder("qwen2_5_vl"))).draft(QUESTIONS["with cues"])
    assert drafted["text"] == (
        "<|im_start|>user\nLook.\n<|vision_start|><|video_pad|>×8 <|vision_end|>- 0:01 a rope\n"
        "What is it?\nReply with the letter of the right option and nothing else.<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert drafted["tensors"]["video_grid_thw"] == [1, 3]


def test_frames_are_sampled_as_the_options_say() -> None:
    assert build(Options("m")).sampling == FrameSampling(2.0, 768)
    evenly = Options("m", frame_rate_hz=1, max_frames=8, max_side_px=448, uniform_frames=True)
    assert build(evenly).sampling == FrameSampling(1, 8, 448, uniform=True)
    assert build(Options("m", frame_rate_hz=0)).sampling is None


def test_one_process_loads_a_checkpoint_once(folder: Callable[[str], str]) -> None:
    first, second = build(Options(folder("smolvlm"))), build(Options(folder("smolvlm")))
    assert first._loaded()[0] is second._loaded()[0]
    first.close()
    assert isinstance(second.answer(QUESTIONS["bare"]), Answer)


def test_memory_that_is_full_is_a_failure_that_says_what_to_do(
    folder: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers()
    import torch

    model = build(Options(folder("qwen3_vl")))
    expected = log_likelihoods(model.answer(QUESTIONS["bare"]))
    network = model._loaded()[0].model
    usual = network.lm_head.forward

    def full(*_: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")

    monkeypatch.setattr(network.lm_head, "forward", full)
    reply = model.answer(QUESTIONS["bare"])
    assert isinstance(reply, Failure)
    assert reply.kind is FailureKind.UNAVAILABLE
    assert "4 frames" in reply.reason
    assert "max_frames" in reply.reason
    monkeypatch.setattr(network.lm_head, "forward", usual)
    assert log_likelihoods(model.answer(QUESTIONS["bare"])) == expected


def test_frames_that_a_processor_refuses_are_named(folder: Callable[[str], str]) -> None:
    model = build(Options(folder("qwen3_vl")))
    sliver = Frames((Frame(0.0, np.zeros((8, 4000, 3), np.uint8)),))
    with pytest.raises(BadInput, match=r"qwen3_vl refuses 2 frames of 4000×8 pixels: .*200"):
        model.count(asked("Look.", sliver, "What?"))


def test_calls_from_several_threads_take_turns(folder: Callable[[str], str]) -> None:
    model = build(Options(folder("qwen2_5_vl")))
    alone = {what: log_likelihoods(model.answer(each)) for what, each in QUESTIONS.items()}
    with ThreadPoolExecutor(4) as pool:
        replies = pool.map(model.answer, [*QUESTIONS.values()] * 3)
        assert [log_likelihoods(reply) for reply in replies] == [*alone.values()] * 3


def test_a_prompt_that_cannot_fit_is_not_read(folder: Callable[[str], str]) -> None:
    model = build(Options(folder("qwen3_vl"), context_tokens=300))
    result = ask(Question("What?"), None, model, VIDEO.frames, 2.0)
    assert result.failure is not None
    assert result.failure.kind is FailureKind.TOO_LONG
    assert "4 frames" in result.failure.reason
    assert model._loaded()[0]._model is None


def test_counting_and_drafting_load_no_weights(tmp_path: Path) -> None:
    path = tiny.save("internvl", tmp_path)
    for file in path.glob("*.safetensors"):
        file.unlink()
    model = build(Options(str(path)))
    request = QUESTIONS["with cues"]
    assert model.count(request).tokens == model.prepare(request).ids.shape[1]
    assert (model.native_video, model.context_tokens) == (False, 8192)
    assert "- 0:01 a rope" in model.draft(request)["text"]
    with pytest.raises(BadInput, match="cannot load"):
        model.answer(request)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "float8"}, "float8"),
        ({"quantize_bits": 3}, "0 .not., 4 or 8"),
        ({"max_frames": 0}, "max_frames is 0"),
        ({"model": ""}, "model is empty"),
    ],
)
def test_settings_that_cannot_be_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises((BadInput, UnknownName), match=message):
        Options(**options)


def test_an_unknown_video_setting_is_named(folder: Callable[[str], str]) -> None:
    model = build(Options(folder("qwen3_vl"), video_settings={"sise": {}}))
    with pytest.raises(UnknownName, match="'size'"):
        model.answer(QUESTIONS["bare"])


def test_code_of_a_repository_is_run_only_at_a_commit() -> None:
    with pytest.raises(BadInput, match="40 hexadecimal digits"):
        build(Options("some/model", trust_remote_code=True))
    build(Options("some/model", trust_remote_code=True, revision="0" * 40))


def loading(options: Options) -> str:
    """What loading says."""
    transformers()
    with pytest.raises((BadInput, MissingExtra)) as raised:
        build(options).answer(QUESTIONS["bare"])
    return str(raised.value)


def test_a_model_of_another_code_base_is_not_loaded_with_random_weights(tmp_path: Path) -> None:
    config = {"model_type": "llava", "architectures": ["LlavaQwenForCausalLM"]}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert "LlavaQwenForCausalLM, which transformers does not run" in loading(
        Options(str(tmp_path))
    )


@pytest.mark.parametrize(
    ("model_type", "mapped"), [("own", "AutoConfig"), ("llava", "AutoModelForImageTextToText")]
)
def test_a_model_that_brings_its_own_code_is_not_loaded_unasked(
    model_type: str, mapped: str, tmp_path: Path
) -> None:
    config = {
        "model_type": model_type,
        "architectures": ["OwnModel"],
        "auto_map": {mapped: "own.OwnClass"},
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "own.py").write_text("raise SystemExit('this ran')\n")
    assert "--trust-remote-code" in loading(Options(str(tmp_path)))


def test_a_repository_that_cannot_be_is_named() -> None:
    assert "no model repository 'no/such/thing'" in loading(Options("no/such/thing"))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """A hub on this machine that refuses everything in the way that its entries say."""
    transformers()
    import huggingface_hub.constants as constants

    says: dict[str, Any] = {}

    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(says["status"])
            self.send_header("X-Error-Code", says["code"])
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        template = url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "ENDPOINT", url)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        yield says
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("status", "code", "sentence"),
    [
        (404, "RepoNotFound", "no model repository 'some/model' at revision 'abc'"),
        (401, "RepoNotFound", "no model repository 'some/model'.*or it needs a token"),
        (404, "RevisionNotFound", "at revision 'abc'"),
        (403, "GatedRepo", "accept its licence on https://huggingface.co/some/model"),
        (404, "EntryNotFound", "cannot load 'some/model'"),
    ],
)
def test_what_the_hub_refuses_is_one_sentence(
    status: int, code: str, sentence: str, hub: dict[str, Any]
) -> None:
    hub.update(status=status, code=code)
    assert re.search(sentence, loading(Options("some/model", revision="abc")))


OWN_CODE = """
from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration

class OwnConfig(Qwen3VLConfig):
    model_type = "own"

class OwnModel(Qwen3VLForConditionalGeneration):
    config_class = OwnConfig
"""


@pytest.fixture
def own_code(tmp_path: Path) -> str:
    """A model whose repository brings the Python code that runs it."""
    path = tiny.save("qwen3_vl", tmp_path / "own_repository")
    (path / "own.py").write_text(OWN_CODE)
    config = json.loads((path / "config.json").read_text())
    classes = {"AutoConfig": "own.OwnConfig", "AutoModelForImageTextToText": "own.OwnModel"}
    config.update(model_type="own", architectures=["OwnModel"], auto_map=classes)
    (path / "config.json").write_text(json.dumps(config))
    return str(path)


def test_code_of_a_repository_runs_when_it_is_trusted(own_code: str) -> None:
    assert "--trust-remote-code" in loading(Options(own_code))
    reply = build(Options(own_code, trust_remote_code=True)).answer(QUESTIONS["bare"])
    assert isinstance(reply, Answer)
    assert reply.request["family"] == "own"


def test_a_family_that_is_not_known_gets_the_times_in_words_and_no_words_between_frames(
    own_code: str,
) -> None:
    model = build(Options(own_code, trust_remote_code=True))
    assert not model.native_video
    first, second = Frames(VIDEO.frames[:2]), Frames(VIDEO.frames[2:])
    with pytest.raises(BadInput, match="cue_placement"):
        model.answer(asked("Look.", first, "- a rope", second, "What?"))


def test_a_quantized_model_needs_its_package(
    folder: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers()
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    with pytest.raises(MissingExtra, match=r"pip install 'cuelight\[quantized\]'"):
        build(Options(folder("internvl"), quantize_bits=4)).answer(QUESTIONS["bare"])


def test_a_folder_that_holds_no_model_is_named(tmp_path: Path) -> None:
    assert str(tmp_path) in loading(Options(str(tmp_path)))


def test_without_a_network_a_model_that_is_not_here_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    transformers()
    import huggingface_hub.constants as hub

    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(hub, "HF_HUB_CACHE", str(tmp_path))
    reply = build(Options("some/model", revision="abc")).answer(QUESTIONS["bare"])
    assert isinstance(reply, Failure)
    assert reply.kind is FailureKind.UNAVAILABLE
    assert "hf download some/model --revision abc" in reply.reason


@pytest.mark.parametrize("package", ["torch", "transformers", "torchvision", "accelerate"])
def test_a_missing_package_is_one_sentence_with_the_install_line(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"{package}.*pip install 'cuelight\[transformers\]'"):
        build(Options("some/model")).answer(QUESTIONS["bare"])


def test_packages_that_do_not_fit_each_other_are_one_sentence(
    folder: Callable[[str], str],
) -> None:
    """In a process of its own, where torchvision has not been helped to import."""
    code = (
        "from perception.errors import BadInput\nfrom reasoning.videollms.huggingface import *\n"
        f"try: build(Options({folder('internvl')!r})).count_tokens('a')\n"
        "except BadInput as error: print('BadInput:', error)\nelse: print('fine')"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    said = ran.stdout.strip().splitlines()[-1]
    assert said == "fine" or (said.startswith("BadInput: torchvision") and "one release" in said)


def test_a_device_that_is_not_here_is_named(folder: Callable[[str], str]) -> None:
    transformers()
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    assert "no CUDA GPU" in loading(Options(folder("internvl"), device="cuda"))


@pytest.mark.parametrize("name", tiny.NAMES)
def test_ask_runs_as_a_whole(
    name: str,
    folder: Callable[[str], str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    transformers()
    monkeypatch.chdir(tmp_path)
    clips.write_clip(tmp_path / "clip.mp4", clips.moving_square(20, 56, 56))
    asking = ["ask", "clip.mp4", "What moves?", "--model", folder(name), "--json", "--quiet"]
    limits = ["--set", "recognizers={}", "--set", "answer.max_new_tokens=20"]
    choice = ["--option", "a square", "--option", "a circle"]
    for more in ([], choice):
        with pytest.raises(SystemExit) as ended:
            main([*asking, *limits, *more])
        assert not ended.value.code
        told = json.loads(capsys.readouterr().out)
        answer = told["answer"]
        assert answer["sees_video"] is True
        (shown,) = [part for part in answer["request"]["parts"] if "frame_times_s" in part]
        assert shown["frame_times_s"] == pytest.approx([0.0, 0.5, 1.0, 1.5], abs=0.02)
        assert answer["request"]["prompt_tokens"] > answer["request"]["prefix_tokens"] > 0
        assert answer["text"]
        assert (answer["option"] is None) is (more == [])
