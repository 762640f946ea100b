"""The pixels of a video are prepared once for all questions about it."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Mapping
from typing import Any

from perception.errors import UnknownName

__all__ = ["RememberedPixels"]


class RememberedPixels:
    """Stands in for a processor's video part and keeps what it made of the last video.

    Args:
        inner: the video part; all that is not a call goes to it.
    """

    def __init__(self, inner: Any) -> None:
        self._inner, self._wanted, self._key = inner, "", ""
        self._kept: Any = None
        self.made = 0

    @contextlib.contextmanager
    def of(self, key: str, settings: Mapping[str, Any]) -> Iterator[None]:
        """Calls in the block are for the video that ``key`` names, with these settings.

        They are set as attributes: some processors read only those (``max_video_tokens``).

        Raises:
            UnknownName: this video part has no such setting.
        """
        known = sorted(self._inner.valid_kwargs.__annotations__)
        for name in settings:
            if name not in known:
                raise UnknownName(f"setting of a {type(self._inner).__name__}", name, known)
        before = {name: getattr(self._inner, name, None) for name in settings}
        self._wanted = f"{key} {settings}"
        try:
            self._set(settings)
            yield
        finally:
            self._set(before)
            self._wanted = ""

    def _set(self, settings: Mapping[str, Any]) -> None:
        for name, value in settings.items():
            setattr(self._inner, name, value)

    def forget(self) -> None:
        """Free the tensors."""
        self._kept, self._key = None, ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __call__(self, videos: Any, **settings: Any) -> Any:
        """The tensors; ``made`` counts how often they were prepared."""
        if not self._wanted or self._key != self._wanted:
            self.forget()
            self._kept, self._key = self._inner(videos, **settings), self._wanted
            self.made += 1
        again = copy.copy(self._kept)
        again.data = dict(self._kept.data)
        if "video_metadata" in again.data:
            again.data["video_metadata"] = copy.deepcopy(again.data["video_metadata"])
        return again
