"""The page on which wrong answers are tagged, in a browser; skipped without Chromium."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reasoning.reports.error_sources import read_tags
from reasoning.reports.given import Given
from reasoning.reports.tagging import write
from reasoning.results.outcomes import Outcome, Outcomes, State
from tests.reasoning.browser import launched, wait

OWN = ("=1+1", "'@SUM(A1)", "plain, with a comma", "-5 %")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from launched()


@pytest.fixture
def tagged(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """The page of a wrong answer for each of ``OWN``, given as its own tag; the first condition is
    a formula, too."""
    rows = [
        Outcome(f"q{at}", "v.mp4", "", "", "all" if at else "=cmd", "m", 0, State.SCORED, 0.0)
        for at in range(len(OWN))
    ]
    write(Given(Outcomes(tuple(rows)), "all"), tmp_path / "tags.html")
    page = browser.new_context().new_page()
    page.goto((tmp_path / "tags.html").as_uri())
    for own, field in zip(OWN, page.locator(".own").all(), strict=True):
        field.fill(own)
        field.blur()
    yield page
    page.context.close()


def downloaded(page: Any, path: Path) -> Path:
    with page.expect_download() as download:
        page.locator("#download").click()
    download.value.save_as(path)
    return path


def test_no_cell_of_the_table_is_a_formula_and_the_tags_are_read_as_given(
    tagged: Any, tmp_path: Path
) -> None:
    saved = downloaded(tagged, tmp_path / "tags.csv")
    with saved.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert [row[-1] for row in rows[1:]] == ["'=1+1", "''@SUM(A1)", OWN[2], "'-5 %"]
    assert not [cell for row in rows for cell in row if cell.startswith(tuple("=+-@"))]
    found = read_tags(saved)
    assert {key[2]: tags for key, tags in found.items()} == {
        f"q{at}": (own,) for at, own in enumerate(OWN)
    }
    assert {key[0] for key in found} == {"=cmd", "all"}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_page_reads_the_table_that_it_wrote_however_a_spreadsheet_saves_it(
    tagged: Any, tmp_path: Path, delimiter: str
) -> None:
    saved = downloaded(tagged, tmp_path / "tags.csv")
    with saved.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    with saved.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    for field in tagged.locator(".own").all():
        field.fill("")
        field.blur()
    tagged.locator("#load").set_input_files(saved)
    wait(tagged, f"document.querySelectorAll('.own')[0].value === {OWN[0]!r}")
    assert [field.input_value() for field in tagged.locator(".own").all()] == list(OWN)
