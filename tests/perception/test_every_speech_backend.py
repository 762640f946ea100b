"""One contract for every speech backend: the same line, the same nouns, the same errors."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perception import plugins, weights
from perception.audio.backend import BACKENDS, SpeechBackend
from perception.audio.transcription import Transcriber
from perception.cache import TrackCache
from perception.cue import Status, VideoInfo
from perception.errors import BadInput, MissingExtra, UnknownName
from perception.perceive import perceive
from perception.recognizer import AUDIO_RATE_HZ
from perception.recognizers.speech import Options, build
from perception.sample import LINE
from tests.perception.clips import write_clip
from tests.perception.openai_checkpoint import write_openai_checkpoint
from tests.perception.sounds import line, line_ends, tone

HAS_OPENAI = importlib.util.find_spec("whisper") is not None
needs_openai = pytest.mark.skipif(not HAS_OPENAI, reason="needs the extra openai-whisper")

TINY_EN = "whisper_tiny_en"


@dataclass(frozen=True)
class Case:
    """A backend and what one has to know of it."""

    name: str
    default: str
    ending: str
    english: Callable[[Path], str]
    """Where tiny.en lies for it, given a folder to write to."""


def _openai_tiny_en(folder: Path) -> str:
    return str(write_openai_checkpoint(weights.path(TINY_EN), folder / "tiny.en.pt"))


CASES = [
    pytest.param(
        Case("faster_whisper", "whisper_base", "model.bin", lambda _: str(weights.path(TINY_EN))),
        id="faster_whisper",
    ),
    pytest.param(
        Case("openai_whisper", "openai_whisper_base", ".pt", _openai_tiny_en), id="openai_whisper"
    ),
]


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    return found


@pytest.fixture(params=CASES, scope="module")
def english(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Case, SpeechBackend, Transcriber]:
    """A case with tiny.en loaded."""
    case: Case = request.param
    if case.name == "openai_whisper" and not HAS_OPENAI:
        pytest.skip("needs the extra openai-whisper")
    backend = built(case.name, checkpoint=case.english(tmp_path_factory.mktemp("models")))
    return case, backend, backend.load()


def built(name: str, **options: Any) -> SpeechBackend:
    plugin = plugins.take(BACKENDS, name)
    backend: SpeechBackend = plugin.build(plugin.Options(**options))
    return backend


def words_of(text: str) -> list[str]:
    return "".join(each for each in text.casefold() if each.isalpha() or each == " ").split()


def test_every_backend_is_in_the_contract() -> None:
    assert plugins.names(BACKENDS) == [case.values[0].name for case in CASES]  # type: ignore[union-attr]


def test_what_it_would_hear_with_is_known_before_anything_is_loaded(case: Case) -> None:
    backend = built(case.name)
    assert backend.checkpoints == (case.default,)
    assert backend.checkpoint_sha256 == weights.sha256(case.default)
    assert backend.settings == {"checkpoint": case.default, "beam_size": 5, "device": "cpu"}
    assert len(backend.languages) == 99
    assert case.name.replace("_", "-") in backend.version


def test_a_model_of_the_other_backend_is_refused(case: Case) -> None:
    with pytest.raises(UnknownName) as told:
        built(case.name, checkpoint="blazepose_detector")
    models = {name: weights.checkpoint(name).files for name in told.value.available}
    assert case.default in models
    for files in models.values():
        assert any(file.name.endswith(case.ending) for file in files)


def test_a_path_that_is_no_model_is_told(case: Case, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"There is no speech model .*nowhere'; this backend wants"):
        built(case.name, checkpoint=str(tmp_path / "nowhere"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam_size": 0}, "beam_size is 0; give a number from 1 to 20"),
        ({"beam_size": 21}, "beam_size is 21"),
        ({"threads": 100_000}, "threads is 100000"),
        ({"device": "gpu"}, "device is 'gpu'; give cpu, cuda, or cuda:1"),
    ],
)
def test_options_are_checked(case: Case, options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        built(case.name, **options)


@pytest.mark.weights
def test_the_line_is_heard_with_its_times(
    english: tuple[Case, SpeechBackend, Transcriber],
) -> None:
    _, _, transcriber = english
    transcript = transcriber.transcribe(line(), None)
    words = [word for segment in transcript.segments for word in segment.words]
    start_s, end_s = line_ends()
    assert words_of("".join(word.text for word in words)) == words_of(LINE)
    assert (transcript.language, transcript.language_probability) == ("en", 1.0)
    assert words[1].start_s == pytest.approx(start_s + 0.2, abs=0.3)
    assert words[-1].end_s == pytest.approx(end_s, abs=0.3)
    assert all(a.start_s <= b.start_s for a, b in pairwise(words))
    assert all(0.2 < word.probability <= 1 and not word.interpolated for word in words)
    for segment in transcript.segments:
        assert -0.6 < segment.avg_logprob < 0
        assert 0 <= segment.no_speech_prob < 0.5
        assert segment.stamped_start_s == pytest.approx(start_s, abs=0.6)
        assert segment.stamped_end_s == pytest.approx(end_s, abs=0.6)


@pytest.mark.weights
def test_a_loop_ends_with_as_many_tokens_as_speech_of_that_length_can_have(
    english: tuple[Case, SpeechBackend, Transcriber],
) -> None:
    _, _, transcriber = english
    stutter = np.tile(line()[8000:12000], 6).astype(np.float32)
    transcript = transcriber.transcribe(stutter, "en")
    assert len(stutter) / AUDIO_RATE_HZ == 1.5
    assert sum(len(segment.text) for segment in transcript.segments) < 300


@pytest.mark.weights
def test_a_language_that_the_model_does_not_know_is_told(
    english: tuple[Case, SpeechBackend, Transcriber],
) -> None:
    _, _, transcriber = english
    with pytest.raises(UnknownName, match=r"'de'.* Available: en\."):
        transcriber.transcribe(line(), "de")


@pytest.mark.weights
def test_a_model_of_ones_own_hears_a_whole_file(
    english: tuple[Case, SpeechBackend, Transcriber], tmp_path: Path
) -> None:
    case, backend, _ = english
    assert backend.checkpoints == ()
    assert len(backend.checkpoint_sha256) == 64
    path = write_clip(tmp_path / "line.wav", sound=line(), sound_codec="pcm_s16le")
    own = plugins.take(BACKENDS, case.name).Options(backend.settings["checkpoint"])
    recognizer = build(Options(backend=case.name, backends={case.name: own}))
    [track] = perceive(path, [recognizer], cache=TrackCache(tmp_path / "cache")).timeline.tracks
    assert track.status is Status.COMPLETE
    assert words_of(" ".join(cue.text for cue in track.cues))[-6:] == words_of(LINE)[-6:]
    assert backend.version in track.source.version
    assert track.source.settings["backends"] == {case.name: dict(backend.settings)}
    words = [word for cue in track.cues for word in cue.attributes["words"]]
    assert all(a["end_s"] <= b["start_s"] for a, b in pairwise(words))
    assert words[-1]["end_s"] == pytest.approx(line_ends()[1], abs=0.3)


@pytest.mark.weights
def test_damaged_weights_are_told(case: Case, tmp_path: Path) -> None:
    if case.name == "openai_whisper" and not HAS_OPENAI:
        pytest.skip("needs the extra openai-whisper")
    (tmp_path / "model.bin").write_bytes(b"no model")
    (tmp_path / "model.pt").write_bytes(b"no model")
    path = tmp_path / "model.pt" if case.ending == ".pt" else tmp_path
    backend = built(case.name, checkpoint=str(path))
    with pytest.raises(BadInput, match=f"cannot load .*{path.name}.* on cpu"):
        backend.load()


# --- OpenAI's own --------------------------------------------------------------------------------


def test_without_the_package_the_install_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perception.audio.backends.openai_whisper.PACKAGE", "no-such-package")
    recognizer = build(Options(backend="openai_whisper"))
    assert "no-such-package not installed" in recognizer.source.version
    video = VideoInfo("clip", "0" * 64, 0.0, 3.0, 0, 0, 0.0, False, True)
    with pytest.raises(MissingExtra, match=r"pip install 'cuelight\[openai-whisper\]'"):
        recognizer.start(video)
    silent = VideoInfo("clip", "0" * 64, 0.0, 3.0, 0, 0, 0.0, True, False)
    assert recognizer.start(silent).finish().track.status is Status.NO_SIGNAL


def test_every_model_that_openai_published_is_in_the_manifest() -> None:
    ours = {
        name.removeprefix("openai_whisper_"): each
        for name, each in weights.checkpoints().items()
        if name.startswith("openai_whisper_")
    }
    for checkpoint in ours.values():
        [file] = checkpoint.files
        [source] = file.sources
        assert source.where.endswith(f"/{file.sha256}/{file.name}")
    if HAS_OPENAI:
        import whisper

        published = {url.rpartition("/")[2] for url in whisper._MODELS.values()}
        assert {each.files[0].name for each in ours.values()} == published


@needs_openai
def test_a_multilingual_model_says_which_language_it_takes_a_sound_for(tmp_path: Path) -> None:
    """With random weights, which write anything: also segments without a word."""
    import torch
    from whisper.model import ModelDimensions, Whisper

    torch.manual_seed(0)
    dims = ModelDimensions(80, 1500, 64, 2, 1, 51865, 448, 64, 2, 1)
    random = Whisper(dims)
    torch.nn.init.normal_(random.decoder.positional_embedding)  # left uninitialised by Whisper
    model = {"dims": vars(dims), "model_state_dict": random.state_dict()}
    torch.save(model, tmp_path / "random.pt")
    backend = built("openai_whisper", checkpoint=str(tmp_path / "random.pt"), beam_size=1)
    transcript = backend.load().transcribe(tone(0.5), None)
    assert transcript.language in backend.languages
    assert 0 < transcript.language_probability < 1
    assert all(segment.words for segment in transcript.segments)


@needs_openai
@pytest.mark.weights
def test_both_backends_hear_the_same_words_at_the_same_times(tmp_path: Path) -> None:
    heard = []
    for parameter in CASES:
        case: Any = parameter.values[0]
        transcriber = built(case.name, checkpoint=case.english(tmp_path)).load()
        segments = transcriber.transcribe(line(), "en").segments
        heard.append([word for segment in segments for word in segment.words])
    for first, second in zip(*heard, strict=True):
        assert words_of(first.text) == words_of(second.text)
        assert first.start_s == pytest.approx(second.start_s, abs=0.1)
        assert first.end_s == pytest.approx(second.end_s, abs=0.1)
        assert first.probability == pytest.approx(second.probability, abs=0.1)
