"""One YAML, strictly checked; every mistake is one sentence that helps."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from perception import plugins
from perception.errors import BadInput, MissingExtra, UnknownName, UserError
from perception.perceive import build_recognizers
from perception.shipped import shipped
from reasoning.config import Config, build_videollm, load, parse

DEFAULT = shipped("configs") / "default.yaml"


def folders(options: Any) -> dict[str, str]:
    """The fields that hold options of other plug-ins, with the folder of those."""
    fields = dataclasses.fields(options)
    return {each.name: each.metadata["plugins"] for each in fields if "plugins" in each.metadata}


def test_the_default_file_says_what_the_code_has() -> None:
    config, empty = load(DEFAULT), parse("")
    for name, options in config.recognizers.items():
        chosen = {field: {} for field in folders(options)}
        assert dataclasses.replace(options, **chosen) == empty.recognizers[name]
    assert dataclasses.replace(config.fusion, policy_options={}) == empty.fusion
    assert dataclasses.replace(config.tools, similarities={}) == empty.tools
    assert dataclasses.replace(config.strategy, options={}) == empty.strategy
    compared = ("videollms", "recognizers", "fusion", "tools", "strategy")
    same = {each: getattr(empty, each) for each in compared}
    assert dataclasses.replace(config, **same) == empty
    for options in config.videollms.values():
        assert options == type(options)()


def documented(options: Any) -> Any:
    """The names of all fields, nested, as a YAML that documents them would hold them."""
    if not dataclasses.is_dataclass(options):
        return None
    held = {each.name: getattr(options, each.name) for each in dataclasses.fields(options)}
    for field, folder in folders(options).items():
        held[field] = {name: plugins.take(folder, name).Options() for name in plugins.names(folder)}
        assert held[field] == getattr(options, field), f"{field} differ from their defaults"
    return {
        name: {key: documented(inner) for key, inner in value.items()}
        if name in folders(options)
        else documented(value)
        for name, value in held.items()
    }


def names(raw: Any, pattern: Any) -> Any:
    """``raw`` reduced to its keys, as deep as ``pattern`` goes."""
    if pattern is None:
        return None
    return {key: names(value, pattern.get(key)) for key, value in raw.items()}


def test_the_default_file_documents_every_key() -> None:
    raw, config = yaml.safe_load(DEFAULT.read_text()), load(DEFAULT)
    assert set(raw) == {each.name for each in dataclasses.fields(Config)}
    for section in ("recognizers", "videollms"):
        for name, options in getattr(config, section).items():
            expected = documented(options)
            assert names(raw[section][name], expected) == expected, name
    for section in ("fusion", "tools", "strategy", "answer"):
        expected = documented(getattr(config, section))
        assert names(raw[section], expected) == expected, section


def test_a_value_of_a_plugin_is_set_by_its_path() -> None:
    config = load(DEFAULT, ["recognizers.action.window_s=10", "fusion.thresholds.action=0.5"])
    assert config.recognizers["action"].window_s == 10.0
    assert config.fusion.thresholds["action"] == 0.5
    assert config.fusion.thresholds["speech"] == load(DEFAULT).fusion.thresholds["speech"]


def test_options_of_a_pose_estimator_reach_it() -> None:
    config = load(DEFAULT, ["recognizers.action.pose_estimators.blazepose.max_people=2"])
    options = config.recognizers["action"]
    assert options.pose_estimators["blazepose"].max_people == 2
    (recognizer,) = build_recognizers({"action": options})
    assert recognizer.source.settings["pose_estimators"]["blazepose"]["max_people"] == 2


def test_what_an_unused_pose_estimator_is_told_changes_no_track() -> None:
    def source(*overrides: str) -> Any:
        chosen = {"action": parse("recognizers: {action: {}}", overrides).recognizers["action"]}
        return build_recognizers(chosen)[0].source

    assert source() == source("recognizers.action.pose_estimators.blazepose.max_people=6")
    assert source() != source("recognizers.action.pose_estimators.blazepose.max_people=5")


def test_an_override_of_one_recognizer_keeps_the_others() -> None:
    config = parse("fusion: {budget_tokens: 500}", ["recognizers.action.window_s=2.5"])
    assert list(config.recognizers) == ["action", "screen_text", "speech"]
    assert config.recognizers["action"].window_s == 2.5


def test_only_the_recognizers_that_are_named_run() -> None:
    assert list(parse("recognizers: {speech: {}}").recognizers) == ["speech"]
    assert list(parse("").recognizers) == ["action", "screen_text", "speech"]
    assert parse("recognizers: {}").recognizers == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("recogniser: {}", "config key 'recogniser'. Did you mean 'recognizers'?"),
        ("recognizers: {actoin: {}}", "'actoin'. Did you mean 'action'?"),
        (
            "recognizers: {action: {windows_s: 2}}",
            "key in recognizers.action 'windows_s'. Did you mean 'window_s'?",
        ),
        ("recognizers: {action: {window_s: five}}", "recognizers.action.window_s: "),
        ("recognizers: {action: {window_s: '5'}}", "recognizers.action.window_s: "),
        ("recognizers: {action: {mirror: 1}}", "recognizers.action.mirror: "),
        ("recognizers: {action: 5}", "recognizers.action must be a mapping"),
        (
            "recognizers: {action: {pose_estimators: {blazpose: {}}}}",
            "pose estimator 'blazpose'. Did you mean 'blazepose'?",
        ),
        (
            "recognizers: {action: {pose_estimators: {blazepose: {max_peple: 2}}}}",
            "key in recognizers.action.pose_estimators.blazepose 'max_peple'. Did you mean",
        ),
        (
            "recognizers: {action: {pose_estimators: {blazepose: {max_people: two}}}}",
            "recognizers.action.pose_estimators.blazepose.max_people: ",
        ),
        (
            "recognizers: {action: {pose_estimators: blazepose}}",
            "recognizers.action.pose_estimators must be a mapping",
        ),
        ("recognizers: [action]", "recognizers must be a mapping"),
        ("videollm: embeded", "VideoLLM family 'embeded'. Did you mean 'embedded'?"),
        ("videollm: [embedded]", "VideoLLM family"),
        (
            "fusion: {render: {notise: short}}",
            "key in fusion.render 'notise'. Did you mean 'notice'?",
        ),
        ("fusion: {render: {notice: shout}}", "wording of the notice 'shout'"),
        ("fusion: {thresholds: {action: 1.5}}", "threshold for action is 1.5"),
        ("fusion: {policies: [every_queue]}", "every_queue"),
        (
            "fusion: {policy_options: {hedged: {topp: 2}}}",
            "key in fusion.policy_options.hedged 'topp'. Did you mean 'top'?",
        ),
        ("fusion: {policy_options: {hedged: {top: 0}}}", "at least 1 label"),
        ("fusion: {margin_s: -1}", "margin_s is -1"),
        ("strategy: {name: verfied}", "strategy 'verfied'. Did you mean 'verified'?"),
        ("tools: {similarity: bm52}", "similarity 'bm52'. Did you mean 'bm25'?"),
        ("fusion: {thresholds: {acton: 0.7}}", "'acton'. Did you mean 'action'?"),
        ("answer: {max_new_tokens: 1.5}", "answer.max_new_tokens: "),
        (
            "videollms: {scripted: {rules: [{patern: x, reply: y}]}}",
            "key in videollms.scripted.rules[0] 'patern'. Did you mean 'pattern'?",
        ),
        ("answer: {max_new_tokens: 0}", "at least one token"),
        ("answer: {temperature: -1}", "a temperature from 0 to 2, not 128 and -1"),
        ("answer: {seed: -1}", "A seed is a number from 0"),
        ("videollm: embedded\nanswer: {seed: " + "x" * 5000 + "}", "x…"),
        ("answer: {when: 2026-11-30}", "key in answer 'when'"),
        ("a: b: c", "is not YAML"),
        ("videollm: scripted\nvideollm: embedded", "the key 'videollm' stands here twice"),
        ("recognizers: {action: {window_s: .inf}}", "inf is not a finite number"),
        ("fusion: {thresholds: {action: .nan}}", "nan is not a finite number"),
        ("recognizers: &all {action: *all}", "more than 100000 values"),
        ("fusion: " + "[" * 3000, "nested too deeply"),
        ("fusion: {budget_tokens: " + "9" * 5000 + "}", "is not YAML"),
        ("- a", "must be a mapping"),
        ("just words", "must be a mapping"),
        ("!!python/object/apply:os.system ['true']", "is not YAML"),
    ],
)
def test_a_mistake_is_one_sentence_with_the_key_and_the_value(text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        parse(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_aliases_that_multiply_without_end_are_not_followed() -> None:
    lines = ["videollm: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"k{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    with pytest.raises(BadInput, match="more than 100000 values"):
        parse("\n".join(lines))


@pytest.mark.parametrize(
    ("written", "meant"), [("1e-3", 0.001), ("2E1", 20.0), ("+.5", 0.5), ("3.", 3.0), ("4", 4.0)]
)
def test_numbers_are_written_as_people_write_them(written: str, meant: float) -> None:
    set_so = load(DEFAULT, [f"recognizers.action.window_s={written}"])
    assert set_so.recognizers["action"].window_s == meant


@pytest.mark.parametrize("text", ["no", "on", "1:30", "2026-11-30", "0o7"])
def test_words_stay_words(text: str) -> None:
    name = parse(f"videollms: {{scripted: {{name: {text}}}}}").videollms["scripted"].name
    assert name == text


def test_an_override_that_is_not_finite_is_one_sentence() -> None:
    with pytest.raises(BadInput, match=r"--set 'recognizers.action.rate_hz=.inf': inf is not"):
        load(DEFAULT, ["recognizers.action.rate_hz=.inf"])


@pytest.mark.parametrize("override", ["window_s", "=5", "a..b=1", "recognizers.=1"])
def test_a_malformed_override_says_how_it_is_written(override: str) -> None:
    with pytest.raises(BadInput, match=r"KEY\.PATH=VALUE"):
        load(DEFAULT, [override])


def test_a_string_that_is_left_empty_is_the_empty_string() -> None:
    key = "recognizers.action.runtimes.mmaction2.labels"
    action = load(DEFAULT, [f"{key}="]).recognizers["action"]
    assert action.runtimes["mmaction2"].labels == ""
    boxes = "recognizers.action.pose_estimators.rtmlib.boxes.file"
    action = load(DEFAULT, [f"{boxes}="]).recognizers["action"]
    assert action.pose_estimators["rtmlib"].boxes.file == ""
    assert parse("recognizers: {speech: {language:}}").recognizers["speech"].language == ""
    with pytest.raises(BadInput, match=r"window_s: .*not None"):
        load(DEFAULT, ["recognizers.action.window_s="])


def test_an_override_cannot_go_below_a_value() -> None:
    with pytest.raises(BadInput, match="'window_s' is a value"):
        load(DEFAULT, ["recognizers.action.window_s.deep=1"])
    with pytest.raises(UnknownName, match="Did you mean 'window_s'"):
        load(DEFAULT, ["recognizers.action.windows_s=1"])


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="Cannot read the config"):
        load(tmp_path / name)


@pytest.mark.parametrize("name", ["all_cues", "all_cues.yaml"])
def test_a_bare_name_is_a_config_that_ships_unless_a_file_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "default.yaml").write_text("videollm: scripted")
    assert load().videollm == "embedded"
    assert load(Path(name)) == load(shipped("configs") / "all_cues.yaml")
    Path(name).write_text("videollm: scripted")
    assert load(Path(name)).videollm == "scripted"
    with pytest.raises(BadInput, match="Cannot read the config"):
        load(Path("nowhere") / name)


def test_a_relative_path_that_is_not_there_is_told_with_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput) as caught:
        load(Path("absent.yaml"))
    assert str(caught.value).endswith(f"No such file or directory in {str(tmp_path)!r}.")


def test_bytes_that_are_no_text_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput):
        load(tmp_path / "x.yaml")


def test_a_missing_package_is_told_before_anything_long_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = parse(
        "videollm: openai_compatible\n"
        "videollms: {openai_compatible: {base_url: 'http://localhost:9/v1'}}"
    )
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r"needs the package openai.*cuelight\[openai\]"):
        build_videollm(settings)
    build_videollm(settings, drafts_only=True).close()
