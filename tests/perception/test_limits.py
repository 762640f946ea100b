"""Numbers in options: one sentence that names the option, the value and what is allowed."""

import math
import os
from dataclasses import dataclass

import pytest

from perception.errors import BadInput
from perception.limits import check_limits, usable_threads


@dataclass(frozen=True)
class Settings:
    share: float | None = 0.5


@pytest.mark.parametrize("value", [0, 0.5, 1, None])
def test_the_limits_themselves_are_allowed_and_so_is_nothing(value: float | None) -> None:
    assert fault(Settings(value)) is None
    assert fault(Settings(-0.001)) is not None


def fault(settings: Settings) -> str | None:
    try:
        check_limits(settings, {"share": (0, 1)})
    except BadInput as error:
        return str(error)
    return None


@pytest.mark.parametrize("value", [-0.001, 1.001, math.nan, math.inf, -math.inf])
def test_what_lies_outside_is_named_with_its_limits(value: float) -> None:
    with pytest.raises(BadInput, match=r"^The cook's share is .*; give a number from 0 to 1\.$"):
        check_limits(Settings(value), {"share": (0, 1)}, "The cook's ")


def test_no_more_threads_run_than_the_machine_has_cores() -> None:
    assert usable_threads(1) == 1
    assert usable_threads(10_000) == os.cpu_count()
