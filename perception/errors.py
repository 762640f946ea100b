"""Every error that Cuelight raises on purpose.

::

    CuelightError
    ├── UserError                 somebody can mend it: printed as one sentence, exit code 2
    │   ├── BadInput              a file, a value or an option that cannot be used as given
    │   │   └── UnreadableVideo   a path that holds no decodable video or audio
    │   ├── UnknownName           a plug-in, checkpoint or key that does not exist (lists what does)
    │   ├── MissingPackage        an optional package is not installed (says the install line)
    │   │   └── MissingExtra      the packages of one of Cuelight's extras
    │   ├── UnsupportedPlatform   this machine has no wheel of a needed package
    │   └── StorageError          the disk is full or read-only
    ├── WeightsError              a checkpoint could not be fetched or does not have its sha256
    └── RecognizerFailed          a recognizer stopped on this video (its track says why)

A message says what was wrong, the value seen, what is available and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "BadInput",
    "CuelightError",
    "MissingExtra",
    "MissingPackage",
    "RecognizerFailed",
    "StorageError",
    "UnknownName",
    "UnreadableVideo",
    "UnsupportedPlatform",
    "UserError",
    "WeightsError",
]


class CuelightError(Exception):
    """Root of the tree; catch it to catch everything that Cuelight raises on purpose."""


class UserError(CuelightError):
    """Something the user can mend; commands print it without a traceback and exit with 2."""


class BadInput(UserError):
    """A file, a value or an option that cannot be used as given."""


class UnreadableVideo(BadInput):
    """A path that does not hold decodable video or audio."""


class UnknownName(UserError):
    """A name that does not exist, with the nearest match and all that do exist."""

    def __init__(self, what: str, name: str, available: Iterable[str]) -> None:
        self.what, self.name, self.available = what, name, sorted(available)
        near = difflib.get_close_matches(name, self.available, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        known = ", ".join(self.available) or "none"
        super().__init__(f"There is no {what} {name!r}.{hint} Available: {known}.")


class MissingPackage(UserError):
    """An optional package is not installed; ``install`` is the command that installs it."""

    def __init__(self, package: str, install: str, purpose: str) -> None:
        self.package = package
        super().__init__(
            f"{purpose} needs the package {package}, which is not installed. "
            f"Install it with: {install}"
        )


class MissingExtra(MissingPackage):
    """An extra of Cuelight is not installed; ``then`` is a second command that it needs."""

    def __init__(self, package: str, extra: str, purpose: str, then: str = "") -> None:
        self.extra = extra
        second = f" && {then}" if then else ""
        super().__init__(package, f"pip install 'cuelight[{extra}]'{second}", purpose)


class UnsupportedPlatform(UserError):
    """This machine has no build of a package that the wished part needs."""


class StorageError(UserError):
    """A folder cannot be written: the disk is full, or the place is read-only."""


class WeightsError(CuelightError):
    """A checkpoint could not be fetched from any source, or its sha256 does not match."""


class RecognizerFailed(CuelightError):
    """A recognizer could not go on with this video; the other tracks are unharmed."""
