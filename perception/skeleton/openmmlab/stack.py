"""The only door to OpenMMLab's packages: checks that they can run here, mends what is broken, and
imports them quietly."""

from __future__ import annotations

import importlib
import importlib.util
import platform
import sys
import threading
import warnings
from types import ModuleType

from perception.errors import MissingExtra, UnsupportedPlatform, UserError
from perception.skeleton.openmmlab import compat

__all__ = ["EXTRA", "SECOND_COMMAND", "check", "load"]

EXTRA = "openmmlab"

SECOND_COMMAND = (
    "pip uninstall -y opencv-python opencv-python-headless opencv-contrib-python "
    "opencv-contrib-python-headless && "
    "pip install --no-deps mmpose==1.3.2 rtmlib==0.0.15 opencv-contrib-python-headless==5.0.0.93"
)
"""What pip cannot be told in an extra: mmpose requires chumpy, which does not build, and the four
distributions of OpenCV, of which several are required here, overwrite each other's ``cv2/``."""

_MODULES = ("torch", "mmengine", "mmcv", "mmaction", "mmpose", "pkg_resources")
"""What must be there; setuptools has no pkg_resources from 82 on, and the extra asks for less."""

_lock = threading.Lock()


def check(purpose: str) -> None:
    """See that OpenMMLab's packages are installed and can run here; imports none of them.

    Args:
        purpose: what needs them, as the beginning of a sentence, e.g. ``"The runtime mmaction2"``.

    Raises:
        UnsupportedPlatform: this is not Linux on x86-64.
        MissingExtra: a package is missing; says both commands.
        UserError: OpenCV does not import.
    """
    system, machine = platform.system(), platform.machine()
    if (system, machine.lower()) not in {("Linux", "x86_64"), ("Linux", "amd64")}:
        raise UnsupportedPlatform(
            f"{purpose} needs OpenMMLab's packages, which run on Linux on x86-64 only, not on "
            f"{system} {machine}; what is built in (onnx, blazepose) runs here."
        )
    for module in _MODULES:
        if module not in sys.modules and importlib.util.find_spec(module) is None:
            raise MissingExtra(module, EXTRA, purpose, then=SECOND_COMMAND)
    try:
        import cv2  # noqa: F401
    except ImportError as error:
        raise UserError(
            f"{purpose} needs OpenCV, which does not import ({error}): several distributions of it "
            f"have overwritten each other, or it wants a screen. Run: {SECOND_COMMAND}"
        ) from None


def load(module: str, purpose: str) -> ModuleType:
    """Import ``module``, e.g. ``"mmaction.models"``; ``purpose`` and errors as for ``check``.

    Raises:
        UserError: a package that it imports is missing or does not fit.
    """
    check(purpose)
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compat.install()
            return importlib.import_module(module)
        except (ImportError, AssertionError) as error:
            reason = " ".join(str(error).split())[:300]
            raise UserError(
                f"{purpose} needs {module}, which does not import ({reason}). Install it "
                f"again: pip install 'cuelight[{EXTRA}]' && {SECOND_COMMAND}"
            ) from error
