"""One YAML per run becomes a frozen, strictly checked ``Config``.

The options themselves live in the plug-in files (``recognizers/action.py`` exports its own
``Options``); this module only assembles them. ``configs/default.yaml`` documents every key.
"""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from fusion.options import FusionOptions
from perception import plugins
from perception.errors import BadInput, UnknownName
from perception.perceive import DEFAULT_RECOGNIZERS
from perception.shipped import shipped
from perception.text_file import read_text
from reasoning import availability, plain_yaml, presets
from reasoning.ask import AnswerOptions
from reasoning.strategy import StrategyOptions
from reasoning.tools.assemble import ToolOptions
from reasoning.videollm import VideoLLM

__all__ = [
    "Config",
    "assembled",
    "build_videollm",
    "known_keys",
    "load",
    "overridden",
    "parse",
    "plugin_options",
    "put",
    "section",
    "typed",
]

T = TypeVar("T")

_SHOWN_CHARS = 100


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that a run can be told.

    Args:
        recognizers: name -> its ``Options``; only the recognizers named here run.
        fusion: gate, policies, budget, wording.
        tools: what fusion is handed: similarity, calibrations, question types.
        strategy: in how many calls the model is asked, and for what.
        videollm: name of the family that answers.
        videollms: family -> its ``Options``.
        answer: limits of the answer.
    """

    recognizers: Mapping[str, Any]
    fusion: FusionOptions
    videollm: str
    videollms: Mapping[str, Any]
    tools: ToolOptions = field(default_factory=ToolOptions)
    strategy: StrategyOptions = field(default_factory=StrategyOptions)
    answer: AnswerOptions = field(default_factory=AnswerOptions)


def load(path: Path | None = None, overrides: Sequence[str] = ()) -> Config:
    """Read a YAML file (``configs/default.yaml`` when None; a bare name that is no file is one of
    those that ship) and apply ``key.path=value`` overrides.

    An override ``videollms.FAMILY.preset=NAME`` takes the place of all that was set for the family.

    Raises:
        BadInput: unreadable file, no YAML, an ill-typed value or a malformed override.
        UnknownName: a key that does not exist, with the nearest that does.
    """
    path = shipped("configs") / "default.yaml" if path is None else _placed(path)
    return parse(read_text(path, "config"), overrides, where=str(path))


def _placed(path: Path) -> Path:
    """The file, or the shipped one of that name, with its suffix or without."""
    if path.is_file() or path.parent != Path():
        return path
    folder = shipped("configs")
    names = (path.name, f"{path.name}.yaml")
    return next((folder / name for name in names if (folder / name).is_file()), path)


def parse(text: str, overrides: Sequence[str] = (), where: str = "the config") -> Config:
    """The same from YAML text; ``where`` names it in error messages."""
    try:
        raw = plain_yaml.load(text) or {}
    except BadInput as error:
        raise BadInput(f"{where} is not YAML for settings: {error}.") from None
    if not isinstance(raw, dict):
        raise BadInput(f"{where} must be a mapping of keys to values, not {type(raw).__name__}.")
    raw.setdefault("recognizers", dict.fromkeys(DEFAULT_RECOGNIZERS))
    return assembled(overridden(raw, overrides))


def assembled(raw: Mapping[str, Any]) -> Config:
    """The config in a mapping as YAML gives it; raises as ``load``."""
    raw = {"recognizers": dict.fromkeys(DEFAULT_RECOGNIZERS), **raw}
    known_keys(raw, [each.name for each in dataclasses.fields(Config)], "config key", "")
    families = plugins.names("reasoning.videollms")
    videollm = raw.get("videollm", "embedded")
    if videollm not in families:
        raise UnknownName("VideoLLM family", str(videollm), families)
    models = {videollm: None} | section(raw.get("videollms"), "videollms")
    models = {name: presets.resolved(name, options) for name, options in models.items()}
    fusion = typed(FusionOptions, raw.get("fusion"), "fusion")
    for policy in fusion.policies:
        plugins.take("fusion.policies", policy)
    kinds = plugins.names("perception.recognizers")
    known_keys(fusion.thresholds, kinds, "cue kind", "fusion.thresholds")
    return Config(
        recognizers=plugin_options("perception.recognizers", raw["recognizers"], "recognizers"),
        fusion=fusion,
        videollm=videollm,
        videollms=plugin_options("reasoning.videollms", models, "videollms"),
        tools=typed(ToolOptions, raw.get("tools"), "tools"),
        strategy=typed(StrategyOptions, raw.get("strategy"), "strategy"),
        answer=typed(AnswerOptions, raw.get("answer"), "answer"),
    )


def build_videollm(config: Config, *, drafts_only: bool = False) -> VideoLLM:
    """The model that ``config.videollm`` names, with its options; it loads when it is first used.

    Args:
        drafts_only: nobody will be asked; a family that needs a key does without (its
            ``build_draft``, if it exports one).

    Raises:
        MissingExtra: the family's packages are not installed; a draft may do without.
        UserError: what the family says of its options.
    """
    family = plugins.load("reasoning.videollms", config.videollm)
    build = getattr(family, "build_draft", family.build) if drafts_only else family.build
    if build is family.build:
        availability.require(config.videollm)
    model: VideoLLM = build(config.videollms[config.videollm])
    return model


def overridden(raw: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """A mapping as YAML gives it with ``key.path=value`` settings laid over it; raises as
    ``load``."""
    made = copy.deepcopy(dict(raw))
    for override in overrides:
        _override(made, override)
    return made


def _override(raw: dict[str, Any], override: str) -> None:
    key, equals, value = override.partition("=")
    keys = key.strip().split(".")
    if not equals or not all(keys):
        raise BadInput(
            f"--set takes KEY.PATH=VALUE, e.g. recognizers.action.window_s=5, not {override!r}."
        )
    try:
        parsed = plain_yaml.load(value)
    except BadInput as error:
        raise BadInput(f"--set {override!r}: {error}.") from None
    put(raw, keys, parsed, f"--set {override!r}")


def put(raw: dict[str, Any], keys: Sequence[str], value: Any, where: str) -> None:
    """Set one key of a mapping as YAML gives it; the sections on the way are made.

    Raises:
        BadInput: there is a value where a section is needed; ``where`` names the setting.
    """
    place = raw
    for step in keys[:-1]:
        inner = place.get(step)
        if inner is None:
            inner = place[step] = {}
        elif not isinstance(inner, dict):
            raise BadInput(f"{where}: {step!r} is a value, it has no keys below it.")
        place = inner
    if keys[0] == "videollms" and keys[2:] == ["preset"]:
        place.clear()
    place[keys[-1]] = value


def known_keys(raw: Mapping[str, Any], known: Sequence[str], what: str, where: str) -> None:
    """See that every key is known; an ``UnknownName`` tells the nearest."""
    for key in raw:
        if key not in known:
            place = f"{what} in {where}" if where else what
            raise UnknownName(place, str(key), known)


def section(raw: Any, where: str) -> dict[str, Any]:
    """A mapping of keys to values, empty for None; anything else is ``BadInput``."""
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise BadInput(f"{where} must be a mapping of keys to values, not {raw!r}.")
    return raw


def plugin_options(folder: str, raw: Any, where: str) -> dict[str, Any]:
    """By name, the options of each plug-in that ``raw`` has a section for."""
    return {
        str(name): typed(plugins.take(folder, str(name)).Options, options, f"{where}.{name}")
        for name, options in section(raw, where).items()
    }


def typed(cls: type[T], raw: Any, where: str) -> T:
    """``raw`` as the frozen dataclass ``cls``; nested dataclasses and plug-ins likewise. A string
    that is left empty (``key:``, ``--set key=``) is the empty string."""
    from pydantic import TypeAdapter, ValidationError

    given = dict(section(raw, where))
    nested = {
        key: plugin_options(folder, given.pop(key), f"{where}.{key}")
        for key, folder in _folders(cls).items()
        if key in given
    }
    _check_keys(cls, given, where)
    try:
        text = json.dumps(_written(cls, given))
    except TypeError as error:
        raise BadInput(f"{where} holds a value that is no plain YAML: {error}.") from None
    try:
        options: Any = TypeAdapter(cls).validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join([where, *map(str, first["loc"])])
        shown = repr(first["input"])
        shown = shown if len(shown) <= _SHOWN_CHARS else f"{shown[:_SHOWN_CHARS]}…"
        raise BadInput(f"{key}: {first['msg']}, not {shown}.") from None
    typed: T = dataclasses.replace(options, **nested)
    return typed


def _folders(cls: Any) -> dict[str, str]:
    """The fields that hold options of plug-ins, with the folders of those."""
    fields = dataclasses.fields(cls)
    return {each.name: each.metadata["plugins"] for each in fields if "plugins" in each.metadata}


def _written(cls: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options with "" for None where a string is due, in nested dataclasses too."""
    hints, made = get_type_hints(cls), dict(given)
    for key, value in given.items():
        if value is None and hints[key] is str:
            made[key] = ""
        elif isinstance(value, dict) and dataclasses.is_dataclass(hints[key]):
            made[key] = _written(hints[key], value)
    return made


def _check_keys(cls: Any, given: Mapping[str, Any], where: str) -> None:
    hints = get_type_hints(cls)
    known_keys(given, [each.name for each in dataclasses.fields(cls)], "key", where)
    for key, value in given.items():
        for inner, place in _sections(hints[key], value, f"{where}.{key}"):
            _check_keys(*inner, place)


def _sections(
    hint: Any, value: Any, where: str
) -> Iterator[tuple[tuple[Any, dict[str, Any]], str]]:
    """The nested sections in a value: a dataclass's, or those of each in a tuple of dataclasses."""
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        yield (hint, value), where
    elif get_origin(hint) is tuple and isinstance(value, list):
        for at, each in enumerate(value):
            yield from _sections(get_args(hint)[0], each, f"{where}[{at}]")
