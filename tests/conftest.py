"""Settings of the whole suite."""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "cuelight", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("cuelight")


@pytest.fixture(scope="session", autouse=True)
def _home_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No calibration of the user who runs the tests decides what they see."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "CUELIGHT_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Processes that are started can be interrupted, which a shell's "&" switches off."""
    kept = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, kept)
