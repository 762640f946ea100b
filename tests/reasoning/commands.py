"""Commands as a user runs them, in this process: exit code, what is printed, and no traceback."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from reasoning.cli import main


class Ran(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Ran]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> Ran:
    """``cuelight ARGUMENTS``."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    printed = capsys.readouterr()
    assert "Traceback" not in printed.out + printed.err
    return Ran(int(ended.value.code or 0), printed.out, printed.err)
