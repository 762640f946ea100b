"""What a page tells its script, read back as ``reasoning/viewer/data.py`` describes it."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["of_html", "of_page", "unpacked"]


def of_page(page: Path) -> dict[str, Any]:
    """Of a page's file."""
    return of_html(page.read_text(encoding="utf-8"))


def of_html(html: str) -> dict[str, Any]:
    """Of a page's text."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return unpacked(json.loads(found[1]))


def unpacked(document: dict[str, Any]) -> dict[str, Any]:
    """With a mapping for each cue, and for each block its states by cue id."""
    words, columns = document["words"], document["cues"]
    scores = _numbers(columns["scores"], "<u2") / 10_000
    sure = columns["calibrated"] and _numbers(columns["calibrated"], "<u2")
    lanes = [place for place, lane in enumerate(document["lanes"]) for _ in range(lane["count"])]
    cues = [
        {
            "id": id,
            "lane": lanes[at],
            "start_s": _numbers(columns["starts"], "<f8")[at],
            "end_s": _numbers(columns["ends"], "<f8")[at],
            "text": words[columns["texts"][at]],
            "short": words[columns["shorts"][at]],
            "confidence": scores[at],
            "calibrated": None if sure is None or sure[at] == 65_535 else sure[at] / 10_000,
            "others": [
                [words[word], share / 10_000] for word, share in _pairs(columns["others"][at])
            ],
            "details": [[words[a], words[b]] for a, b in _pairs(columns["details"][at])],
            "watermark": at in columns["watermarks"],
        }
        for at, id in enumerate(columns["ids"])
    ]
    blocks = [
        {id: block["states"][of] for id, of in zip(columns["ids"], block["of"], strict=True)}
        for block in document["blocks"]
    ]
    return {**document, "cues": cues, "blocks": blocks}


def _numbers(text: str, kind: str) -> Any:
    return np.frombuffer(base64.b64decode(text), kind)


def _pairs(flat: list[int]) -> list[tuple[int, int]]:
    return list(zip(flat[::2], flat[1::2], strict=True))
