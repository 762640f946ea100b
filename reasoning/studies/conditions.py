"""Conditions of a study: what is changed from one to the next, by name or as a grid.

::

    conditions:
      - {name: no cues, cues: none}
      - {name: actions, cues: [action], thresholds: {action: 0.5}}
    grid:
      cues: [none, each, all_but_one, all]
      notice: [unreliable, none]

The grid's lists are multiplied out and follow the named ones. A key that a condition leaves out
stays as the study's own sections have it.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from fusion.controls import CONTROLS
from perception.errors import BadInput, UnknownName
from reasoning.config import known_keys, put, section, typed

__all__ = ["Condition", "changed", "conditions_of"]

MOST_CONDITIONS = 10_000
"""Of one grid."""

ALL, NONE, EACH, ALL_BUT_ONE = "all", "none", "each", "all_but_one"


@dataclass(frozen=True, slots=True)
class Condition:
    """One way of asking all questions.

    Args:
        name: in tables; made from the other keys where it is left out.
        cues: kinds that the model is given: ``all`` that the study perceives, ``none``, or a list.
        without: kinds that are left out of them.
        thresholds: by kind, over those of ``fusion.thresholds``.
        window_s, stride_s: of the windows whose actions are classified.
        policies: in order, e.g. ``[routed, hedged]``.
        control: a negative control in place of the truth, see ``fusion.controls``.
        seed: of the control.
        video: whether the model sees pictures, as far as it can.
        cue_placement: where the cue block stands in the prompt.
        notice: wording of the notice of unreliability.
        gold: a folder of cues files: what people annotated in them takes the place of what
            recognizers found of the same kinds, and with ``cues: all`` further kinds are told too.
        oracle: the reference answers of a video's *Grounding* questions are cues for its others.
        strategy: in how many calls the model is asked.
        benchmark: options of the benchmark, e.g. ``{chain_of_thought: true}``.
        set: any other settings, by their path: ``{recognizers.screen_text.rate_hz: 2}``.
    """

    name: str = ""
    cues: str | tuple[str, ...] = ALL
    without: tuple[str, ...] = ()
    thresholds: Mapping[str, float] = field(default_factory=dict)
    window_s: float | None = None
    stride_s: float | None = None
    policies: tuple[str, ...] | None = None
    control: str | None = None
    seed: int = 0
    video: bool = True
    cue_placement: str | None = None
    notice: str | None = None
    gold: str = ""
    oracle: bool = False
    strategy: str | None = None
    benchmark: Mapping[str, Any] = field(default_factory=dict)
    set: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.cues, str) and self.cues not in (ALL, NONE):
            object.__setattr__(self, "cues", (self.cues,))
        if any(path.split(".")[0] in ("videollm", "videollms") for path in self.set):
            raise BadInput(
                f"The condition {self.name!r} sets another model; all conditions are asked of the "
                "same. Run the study once for each --model, into the same records."
            )
        if self.control is not None and self.control not in CONTROLS:
            raise UnknownName("control", self.control, CONTROLS)
        if self.control is not None and self.cues == NONE:
            raise BadInput(
                f"The condition {self.name!r} puts a control in the place of cues and has none; "
                "leave out cues: none."
            )
        if self.gold and self.cues == NONE:
            raise BadInput(
                f"The condition {self.name!r} has gold cues and tells none; leave out cues: none."
            )

    def tells(self, kind: str, perceived: Sequence[str]) -> bool:
        """Whether a person's cues of a kind are told where the study perceives ``perceived``."""
        further = self.cues == ALL and kind not in (*perceived, *self.without)
        return further or kind in self.kinds(perceived)

    def kinds(self, perceived: Sequence[str]) -> tuple[str, ...]:
        """The kinds of cues that it gives the model, of those that the study perceives.

        Raises:
            BadInput: it names one that the study does not perceive; lists those that it does.
        """
        named = () if isinstance(self.cues, str) else self.cues
        for kind in (*named, *self.without):
            if kind not in perceived:
                raise BadInput(
                    f"The condition {self.name!r}: {UnknownName('cue kind', kind, perceived)}"
                )
        if self.cues == NONE:
            return ()
        chosen = named or perceived
        return tuple(kind for kind in perceived if kind in chosen and kind not in self.without)


def changed(raw: Mapping[str, Any], condition: Condition) -> dict[str, Any]:
    """The sections of a config, as YAML gives them, with what the condition changes.

    Raises:
        BadInput: ``set`` names a key below a value.
    """
    made = copy.deepcopy(dict(raw))
    settings: dict[str, Any] = {
        "recognizers.action.window_s": condition.window_s,
        "recognizers.action.stride_s": condition.stride_s,
        "fusion.policies": None if condition.policies is None else list(condition.policies),
        "fusion.render.notice": condition.notice,
        "answer.cue_placement": condition.cue_placement,
        "strategy.name": condition.strategy,
    }
    settings = {path: value for path, value in settings.items() if value is not None}
    settings |= {f"fusion.thresholds.{kind}": at for kind, at in condition.thresholds.items()}
    for path, value in {**settings, **condition.set}.items():
        put(made, path.split("."), value, f"The condition {condition.name!r}")
    return made


def conditions_of(raw: Any, grid: Any, perceived: Sequence[str]) -> tuple[Condition, ...]:
    """The named conditions, then those of the grid; each once.

    Args:
        raw: list of mappings as YAML gives them, or None.
        grid: mapping of a condition's keys to lists of values, or None.
        perceived: kinds that the study perceives, for ``each`` and ``all_but_one``.

    Raises:
        BadInput: there is none, or two of one name differ.
        UnknownName: a key or a kind that does not exist.
    """
    if not isinstance(raw or [], list):
        raise BadInput(f"conditions must be a list of conditions, not {raw!r}.")
    given = [
        _named(typed(Condition, each, f"conditions[{at}]"), section(each, "conditions"))
        for at, each in enumerate(raw or [])
    ]
    given += [
        _named(typed(Condition, each, "grid"), each)
        for each in _multiplied(section(grid, "grid"), perceived)
    ]
    if not given:
        raise BadInput("The study has no condition; give a list `conditions`, or a `grid`.")
    by_name: dict[str, Condition] = {}
    for condition in given:
        condition.kinds(perceived)
        if by_name.setdefault(condition.name, condition) != condition:
            raise BadInput(f"Two conditions are called {condition.name!r}; give each its own name.")
    return tuple(by_name.values())


def _multiplied(grid: Mapping[str, Any], perceived: Sequence[str]) -> Iterator[dict[str, Any]]:
    known_keys(grid, [each.name for each in fields(Condition)], "key", "grid")
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise BadInput(f"grid.{key} must be a list of values, not {values!r}.")
    if not grid:
        return
    expanded = {
        key: list(_kinds_of(values, perceived)) if key == "cues" else values
        for key, values in grid.items()
    }
    if (count := math.prod(map(len, expanded.values()))) > MOST_CONDITIONS:
        raise BadInput(
            f"The grid multiplies out to {count} conditions, more than {MOST_CONDITIONS}; shorten "
            "its lists, or name the conditions that matter."
        )
    for chosen in itertools.product(*expanded.values()):
        yield dict(zip(expanded, chosen, strict=True))


def _kinds_of(values: Sequence[Any], perceived: Sequence[str]) -> Iterator[Any]:
    for value in values:
        if value == EACH:
            yield from ([kind] for kind in perceived)
        elif value == ALL_BUT_ONE:
            for left_out in perceived:
                yield [kind for kind in perceived if kind != left_out]
        else:
            yield value


def _named(condition: Condition, raw: Mapping[str, Any]) -> Condition:
    """With a name that tells what it changes, if it has none."""
    if condition.name:
        return condition
    words = [_told(key, value) for key, value in raw.items()]
    return typed(Condition, {**raw, "name": ", ".join(words) or "as set"}, "condition")


def _told(key: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(_told(inner, each) for inner, each in value.items())
    if isinstance(value, list):
        value = "+".join(map(str, value)) or NONE
    if key == "cues":
        return f"cues {value}"
    if isinstance(value, bool):
        return key if value else f"no {key}"
    return f"{key.rpartition('.')[2]} {value:g}" if isinstance(value, float) else f"{key} {value}"
