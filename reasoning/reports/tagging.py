"""The page on which a person tags wrong answers with their sources (MimeQA's Figure 6)."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from fusion.quoting import visible
from perception.whole import write_whole
from reasoning.records import digest
from reasoning.reports.error_sources import COLUMNS, TAGS, key_of, wrong
from reasoning.reports.given import Given
from reasoning.reports.page import asset, environment
from reasoning.results.outcomes import Outcome

__all__ = ["page", "write"]

_SAFE = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}
"""What could end a script element stands as an escape in its JSON."""


def page(given: Given) -> str:
    """The HTML of the page: every wrong answer with question, reference, cues and tags.

    Tags are kept in the browser under a key of these answers, and leave it as a CSV file that
    ``cuelight report --tags`` reads. Tags that ``given`` holds already are set.
    """
    answers = wrong(given.outcomes.rows)
    script = asset("tagging.js")
    hashed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    document = json.dumps(_document(given, answers), ensure_ascii=False).translate(_SAFE)
    return (
        environment()
        .get_template("tagging.html.jinja")
        .render(
            title=f"Wrong answers of {given.name}",
            count=len(answers),
            tags=TAGS,
            style=asset("page.css") + asset("tagging.css"),
            script=script,
            digest=hashed,
            document=Markup(document),  # noqa: S704 - JSON with everything escaped
        )
    )


def write(given: Given, path: Path) -> int:
    """Write the page; returns how many answers it shows.

    Raises:
        StorageError: the folder cannot be written.
    """
    write_whole(path, page(given).encode("utf-8", "replace"))
    return len(wrong(given.outcomes.rows))


def _document(given: Given, answers: Sequence[Outcome]) -> dict[str, object]:
    return {
        "key": digest([key_of(row) for row in answers])[:16],
        "name": given.name,
        "columns": COLUMNS,
        "tags": TAGS,
        "answers": [
            {
                "key": key_of(row),
                "category": row.category,
                "video": row.video,
                "asked": visible(given.asked.get(row.question, "")),
                "answer": visible(row.answer),
                "reference": visible(row.reference),
                "reason": visible(row.reason),
                "cues": [visible(f"{cue.kind}: {cue.text}") for cue in row.cues],
                "given": list(given.tags.get(key_of(row), ())),
            }
            for row in answers
        ],
    }
