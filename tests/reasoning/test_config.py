"""One YAML, strictly checked; every mistake is one sentence that helps."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import yaml

from perception.errors import BadInput, UnknownName, UserError
from perception.shipped import shipped
from reasoning.config import Config, load, parse

DEFAULT = shipped("configs") / "default.yaml"


def test_the_default_file_says_what_the_code_has() -> None:
    config, empty = load(DEFAULT), parse("")
    assert dataclasses.replace(config, videollms=empty.videollms) == empty
    for options in config.videollms.values():
        assert options == type(options)()


def documented(options: Any) -> Any:
    """The names of all fields, nested, as a YAML that documents them would hold them."""
    if not dataclasses.is_dataclass(options):
        return None
    return {
        each.name: documented(getattr(options, each.name)) for each in dataclasses.fields(options)
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
    for section in ("fusion", "answer"):
        expected = documented(getattr(config, section))
        assert names(raw[section], expected) == expected, section


def test_a_value_of_a_plugin_is_set_by_its_path() -> None:
    config = load(DEFAULT, ["recognizers.action.window_s=10", "fusion.thresholds.action=0.5"])
    assert config.recognizers["action"].window_s == 10.0
    assert config.fusion.thresholds["action"] == 0.5
    assert config.fusion.thresholds["speech"] == load(DEFAULT).fusion.thresholds["speech"]


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
        ("answer: {max_new_tokens: 1.5}", "answer.max_new_tokens: "),
        ("answer: {when: 2026-11-30}", "key in answer 'when'"),
        ("a: b: c", "is not YAML"),
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


@pytest.mark.parametrize("override", ["window_s", "=5", "a..b=1", "recognizers.=1"])
def test_a_malformed_override_says_how_it_is_written(override: str) -> None:
    with pytest.raises(BadInput, match=r"KEY\.PATH=VALUE"):
        load(DEFAULT, [override])


def test_an_override_cannot_go_below_a_value() -> None:
    with pytest.raises(BadInput, match="'window_s' is a value"):
        load(DEFAULT, ["recognizers.action.window_s.deep=1"])
    with pytest.raises(UnknownName, match="Did you mean 'window_s'"):
        load(DEFAULT, ["recognizers.action.windows_s=1"])


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="Cannot read the config"):
        load(tmp_path / name)


def test_bytes_that_are_no_text_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput):
        load(tmp_path / "x.yaml")
