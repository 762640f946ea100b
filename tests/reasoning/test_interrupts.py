"""Ctrl-C while libraries are at work: nothing hangs, aborts or is destroyed half built."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest

from perception import weights
from perception.shipped import shipped
from reasoning.llama.interrupts import held_back
from reasoning.videollms.embedded import Options

AT_WORK = """
import sys, threading
import numpy as np, onnxruntime
import reasoning.config
from reasoning.cli import main

session = onnxruntime.InferenceSession(sys.argv[1])
given = {
    each.name: np.zeros([side if isinstance(side, int) else 1 for side in each.shape], np.float32)
    for each in session.get_inputs()
}

def work():
    while True:
        session.run(None, given)

def interrupted(*_):
    for _ in range(4):
        threading.Thread(target=work, daemon=True).start()
    raise KeyboardInterrupt

reasoning.config.load = interrupted
main(["perceive", "clip.mp4"])
"""
"""An interrupt while four threads run a network that does not stop."""

LOADING = """
import os, signal, sys, threading, traceback
from pathlib import Path
from reasoning.llama.server import LlamaServer

main = threading.main_thread().ident

def is_loading():
    frame = sys._current_frames()[main]
    return frame.f_code.co_name == "start" and "pool" in frame.f_locals

def interrupt():
    while not is_loading():
        pass
    os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=interrupt, daemon=True).start()
try:
    LlamaServer(Path(sys.argv[1]), 64)
except KeyboardInterrupt as error:
    print("inside", *(frame.name for frame in traceback.extract_tb(error.__traceback__)))
"""
"""An interrupt as soon as llama.cpp starts to load; prints the functions that it went through."""


def ran(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_an_interrupt_while_networks_run_ends_with_130_and_aborts_nothing() -> None:
    network = shipped("checkpoints") / "posec3d_mimed" / "posec3d_mimed.onnx"
    ended = ran(AT_WORK, str(network))
    told = "Interrupted; finished tracks are kept and will be reused.\n"
    assert (ended.returncode, ended.stderr) == (130, told)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows interrupts no process of its own")
@pytest.mark.weights
def test_a_model_that_is_being_loaded_is_whole_before_the_interrupt_comes() -> None:
    ended = ran(LOADING, str(weights.path(Options().model)))
    assert (ended.returncode, ended.stderr) == (0, "")
    functions = ended.stdout.split()
    assert functions[0] == "inside"
    assert "start" not in functions
    assert held_back.__name__ in functions


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_waits_for_the_end_of_the_block() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), held_back():
        signal.raise_signal(signal.SIGINT)
        done.append("built")
    assert done == ["built"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_goes_before_an_error_of_the_block() -> None:
    with pytest.raises(KeyboardInterrupt), held_back():
        signal.raise_signal(signal.SIGINT)
        raise ValueError


def test_a_block_in_another_thread_just_runs() -> None:
    done = []

    def build() -> None:
        with held_back():
            done.append("built")

    thread = threading.Thread(target=build)
    thread.start()
    thread.join()
    assert done == ["built"]
