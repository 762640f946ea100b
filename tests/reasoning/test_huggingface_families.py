"""What each family of Hugging Face's VideoLLMs is given of a video: which frames, at what times."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusion.question import Question
from fusion.render import RenderOptions, render
from fusion.selection import CuePrompt, KeptCue, Selection
from perception.cue import Cue, Span
from perception.recognizer import Frame
from perception.video import probe
from reasoning.ask import AnswerOptions, request_for
from reasoning.prompt import CuePlacement
from reasoning.sampling import sample_frames
from reasoning.videollm import Frames, Request, Text
from reasoning.videollms.huggingface import HuggingFace, Options, build
from tests.perception import clips
from tests.reasoning import tiny_videollms as tiny

TIMES_S = (0.0, 0.52, 1.0, 1.48, 2.04)
"""Of frames at about 2 Hz, as a file with a variable rate gives them."""

QUESTION = Question("What is it?")
PAIRS = {"qwen2_5_vl", "qwen3_vl"}
"""Families that merge frames in pairs."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], HuggingFace]:
    built: dict[str, HuggingFace] = {}

    def get(name: str) -> HuggingFace:
        if name not in built:
            folder = tiny.save(name, tmp_path_factory.mktemp(name))
            built[name] = build(Options(str(folder)))
        return built[name]

    return get


def brightening(times_s: Sequence[float]) -> tuple[Frame, ...]:
    """Pictures of one grey level each, brighter from one to the next."""
    levels = np.linspace(20, 230, len(times_s))
    return tuple(
        Frame(time_s, np.full((56, 56, 3), level, np.uint8))
        for time_s, level in zip(times_s, levels, strict=True)
    )


def request(
    model: HuggingFace,
    times_s: Sequence[float] = TIMES_S,
    cues: CuePrompt | None = None,
    placement: CuePlacement = CuePlacement.BEFORE_QUESTION,
) -> Request:
    options = AnswerOptions(cue_placement=placement)
    return request_for(QUESTION, cues, model, brightening(times_s), 2.5, options)


def words(model: HuggingFace, asked: Request) -> str:
    tokenizer = model._loaded()[0].processor.tokenizer
    text: str = tokenizer.decode(model.prepare(asked).ids[0])
    return text


def told_s(name: str, model: HuggingFace, asked: Request) -> list[float]:
    """The times that the family's model is told, in the family's own way."""
    text = words(model, asked)
    if name == "qwen2_5_vl":
        prepared = model.prepare(asked)
        places = (prepared.ids[0] == video_token(model)).nonzero()[:, 0]
        steps = sorted(set(model._at_work().positions(prepared)[0, 0, places].tolist()))
        return [(step - steps[0]) / tiny.TOKENS_PER_SECOND for step in steps]
    patterns = {
        "qwen3_vl": r"<(\d+\.\d) seconds>",
        "video_llama_3": r"Time (\d+\.\d)s:",
        "smolvlm": r"Frame from (\d\d):(\d\d):",
    }
    listed = text.partition("These frames are located at ")[2].partition(" sec. ")[0]
    if name not in patterns:
        found = re.findall(r"(\d\d) min:(\d\d\.\d\d)", listed)
    else:
        assert not listed
        found = re.findall(patterns[name], text)
    return [
        60 * float(each[0]) + float(each[1]) if isinstance(each, tuple) else float(each)
        for each in found
    ]


def video_token(model: HuggingFace) -> int:
    return int(model._loaded()[0].processor.video_token_id)


def expected_s(name: str, times_s: Sequence[float]) -> list[float]:
    """What the sampled times become by the family's merging and rounding, worked out by hand from
    the papers: pairs are told by their mean (Qwen3-VL) or by how many seconds lie between their
    beginnings (Qwen2.5-VL), SmolVLM counts whole seconds."""
    padded = [*times_s, times_s[-1]] if name in PAIRS and len(times_s) % 2 else list(times_s)
    if name == "qwen2_5_vl":
        apart = (times_s[-1] - times_s[0]) / (len(times_s) - 1)
        return [2 * apart * pair for pair in range(len(padded) // 2)]
    if name == "qwen3_vl":
        return [(padded[at] + padded[at + 1]) / 2 for at in range(0, len(padded), 2)]
    if name == "smolvlm":
        return [float(int(time_s)) for time_s in times_s]
    return list(times_s)


ROUNDING_S = {
    "qwen2_5_vl": 1 / tiny.TOKENS_PER_SECOND,
    "qwen3_vl": 0.0501,
    "video_llama_3": 0.0501,
    "smolvlm": 1e-9,
    "internvl": 0.00501,
    "llava_onevision": 0.00501,
}


@pytest.mark.parametrize("name", tiny.NAMES)
@pytest.mark.parametrize("times_s", [TIMES_S, (3.2, 3.7, 4.2, 4.7), (1.25,)], ids=str)
def test_a_family_is_told_the_times_of_the_frames(
    name: str, times_s: tuple[float, ...], model: Callable[[str], HuggingFace]
) -> None:
    if len(times_s) == 1 and name == "qwen2_5_vl":
        pytest.skip("one pair has no seconds between pairs")
    told = told_s(name, model(name), request(model(name), times_s))
    assert told == pytest.approx(expected_s(name, times_s), abs=ROUNDING_S[name])


@pytest.mark.parametrize("name", tiny.NAMES)
def test_frames_are_sampled_from_a_file_and_reach_the_model_in_order(
    name: str, model: Callable[[str], HuggingFace], tmp_path: Path
) -> None:
    pictures = [clips.plain(56, 56, 20 + 8 * number) for number in range(25)]
    path = clips.write_clip(tmp_path / "clip.mp4", pictures)
    info = probe(path)
    frames = sample_frames(path, info, model(name).sampling)
    assert [frame.time_s for frame in frames] == pytest.approx([0, 0.5, 1, 1.5, 2], abs=0.02)
    asked = request_for(QUESTION, None, model(name), frames, info.duration_s)
    told = told_s(name, model(name), asked)
    times_s = [frame.time_s for frame in frames]
    assert told == pytest.approx(expected_s(name, times_s), abs=ROUNDING_S[name] + 1e-6)
    seen = brightness(name, model(name).prepare(asked).vision)
    levels = [float(frame.rgb.mean()) for frame in frames]
    if name in PAIRS:
        padded = [*levels, levels[-1]]
        levels = [(padded[at] + padded[at + 1]) / 2 for at in range(0, 6, 2)]
    assert np.corrcoef(seen, levels)[0, 1] == pytest.approx(1, abs=1e-4)
    assert seen == sorted(seen)


def brightness(name: str, vision: Any) -> list[float]:
    """The mean of each frame's pixels (of each pair's, where frames are merged)."""
    if "video_grid_thw" in vision:
        groups = int(vision["video_grid_thw"][0, 0])
        return [float(part.mean()) for part in vision["pixel_values_videos"].chunk(groups)]
    pixels = vision["pixel_values" if name in {"internvl", "smolvlm"} else "pixel_values_videos"]
    pixels = pixels.reshape(-1, *pixels.shape[-3:])
    return [float(part.mean()) for part in pixels]


@pytest.mark.parametrize("name", tiny.NAMES)
def test_a_video_that_starts_later_says_so_where_the_family_counts_from_its_first_frame(
    name: str, model: Callable[[str], HuggingFace]
) -> None:
    later, whole = (request(model(name), each) for each in ((3.2, 3.7, 4.2), (0.25, 0.75, 1.25)))
    told = "What is shown of the video starts at 00 min:03.20 sec." in words(model(name), later)
    assert told is (name == "qwen2_5_vl")
    assert bool(model(name).answer(later).request["opening"]) is told
    assert not model(name).answer(whole).request["opening"]


CUES = render(
    Selection(
        tuple(
            KeptCue("action", Cue(f"c{start_s}", Span(start_s, start_s + 1), f"t{start_s}", 1), 1)
            for start_s in (0.6, 1.48)
        )
    ),
    RenderOptions(notice="none"),
)
HEADING, FIRST, SECOND = CUES.text.split("\n")


def frames_before(name: str, model: HuggingFace, asked: Request, mark: str) -> float:
    """How many frames' worth of vision tokens stand before ``mark`` in the prompt."""
    prepared = model.prepare(asked)
    processor = model._loaded()[0].processor
    tokens = processor.tokenizer.convert_ids_to_tokens(prepared.ids[0].tolist())
    vision = {processor.image_token, processor.video_token}
    text = "".join("\x00" if token in vision else token[-1] for token in tokens)
    whole = text.count("\x00")
    encoded = "".join(processor.tokenizer.tokenize(mark))
    assert text.count(encoded) == 1
    groups = 3 if name in PAIRS else 5
    trailing = 1 if name == "llava_onevision" else 0
    return text.partition(encoded)[0].count("\x00") / ((whole - trailing) / groups)


@pytest.mark.parametrize("name", tiny.NAMES)
def test_interleaved_cues_stand_between_the_frames_of_their_time(
    name: str, model: Callable[[str], HuggingFace]
) -> None:
    asked = request(model(name), cues=CUES, placement=CuePlacement.INTERLEAVED)
    before = [frames_before(name, model(name), asked, mark) for mark in (HEADING, FIRST, SECOND)]
    assert before == ([0, 1, 1] if name in PAIRS else [0, 2, 3])
    assert model(name).answer(asked).request["prompt_tokens"] > 0


@pytest.mark.parametrize("name", tiny.NAMES)
def test_a_block_stands_before_or_behind_the_whole_video(
    name: str, model: Callable[[str], HuggingFace]
) -> None:
    first = request(model(name), cues=CUES, placement=CuePlacement.BEFORE_VIDEO)
    last = request(model(name), cues=CUES)
    assert frames_before(name, model(name), first, SECOND) == 0
    assert frames_before(name, model(name), last, FIRST) >= (3 if name in PAIRS else 5)


@pytest.mark.parametrize("name", tiny.NAMES)
def test_cues_change_no_pixel_and_no_time(name: str, model: Callable[[str], HuggingFace]) -> None:
    bare = model(name).prepare(request(model(name)))
    times_s = told_s(name, model(name), request(model(name)))
    for placement in CuePlacement:
        asked = request(model(name), cues=CUES, placement=placement)
        with_cues = model(name).prepare(asked)
        assert bare.vision.keys() == with_cues.vision.keys()
        for key, value in bare.vision.items():
            assert value.equal(with_cues.vision[key])
        if name != "qwen2_5_vl" or placement is not CuePlacement.INTERLEAVED:
            assert told_s(name, model(name), asked) == times_s


@pytest.mark.parametrize("name", tiny.NAMES)
def test_what_a_video_says_opens_no_turn_and_no_picture(
    name: str, model: Callable[[str], HuggingFace]
) -> None:
    processor = model(name)._loaded()[0].processor
    special = [*processor.tokenizer.get_added_vocab(), processor.video_token]
    frames = Frames(brightening(TIMES_S))
    harmless = model(name).prepare(Request((Text("look"), frames, Text("end"))))
    hostile = Request((Text("look"), frames, Text("end" + "".join(special))))
    prepared = model(name).prepare(hostile)
    known = set(processor.tokenizer.get_added_vocab().values())
    kinds = [[id for id in each.ids[0].tolist() if id in known] for each in (harmless, prepared)]
    assert kinds[0] == kinds[1]
