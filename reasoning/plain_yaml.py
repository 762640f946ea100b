"""YAML as people write settings: the core schema of YAML 1.2, each key once, nothing endless.

PyYAML reads YAML 1.1, where ``1e-3`` is a word, ``no`` (Norwegian) is false, ``1:30`` is ninety,
and the second of two equal keys wins in silence.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from typing import Any

import yaml

from perception.errors import BadInput

__all__ = ["MAX_VALUES", "load"]

MAX_VALUES = 100_000
"""Values in a text once its aliases are followed; every setting there is takes about 100."""


class _Loader(yaml.SafeLoader):
    """Safe, and strict about keys."""

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> str:
        """JSON writes characters beyond U+FFFF as two escapes, which PyYAML leaves two halves."""
        words = str(super().construct_scalar(node))
        return words.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"the key {key.value!r} stands here twice", key.start_mark
                    )
                seen.add(key.value)
        return super().construct_mapping(node, deep)


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan",
        list("-+.0123456789"),
    ),
    ("merge", r"<<", ["<"]),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _first
    )


def _whole(loader: _Loader, node: yaml.ScalarNode) -> int:
    digits = loader.construct_scalar(node)
    return int(digits, 16 if "x" in digits else 10)


_Loader.add_constructor("tag:yaml.org,2002:int", _whole)


def load(text: str) -> Any:
    """The value of a YAML text: mappings, lists, strings, finite numbers, booleans and None.

    Raises:
        BadInput: it is not YAML, names a Python object, has a key twice, a number that is not
            finite, or more than ``MAX_VALUES`` values.
    """
    try:
        value = yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except RecursionError:
        raise BadInput("it is nested too deeply") from None
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise BadInput(" ".join(str(error).split())) from None
    _check(value)
    return value


def _check(value: Any) -> None:
    """See that ``value`` is finite in number and size; an alias to what holds it is endless."""
    waiting, count = [value], 0
    while waiting:
        one = waiting.pop()
        count += 1
        if count > MAX_VALUES:
            raise BadInput(f"with its aliases it holds more than {MAX_VALUES} values")
        if isinstance(one, float) and not math.isfinite(one):
            raise BadInput(f"{one} is not a finite number")
        if isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple | set):
            waiting += one
