"""Runs a study with a scripted model that logs every call, in a process of its own.

``python -m tests.reasoning.study_driver STUDY.yaml RECORDS CALLS.log``
"""

import os
import sys
import time
from pathlib import Path

from reasoning.answer import Answer, Failure
from reasoning.records import Records
from reasoning.studies.run import Run
from reasoning.study import load
from reasoning.videollm import Request
from reasoning.videollms import scripted

CALL_S = 0.004


class Counting(scripted.Scripted):
    """Appends what it is asked to the log before it answers."""

    log: Path

    def answer(self, request: Request) -> Answer | Failure:
        line = request.prompt().replace("\n", " | ") + f" seed {request.seed}\n"
        file = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, line.encode())
        os.close(file)
        time.sleep(CALL_S)
        return super().answer(request)


def main(study: str, records: str, log: str) -> None:
    loaded = load(study)
    settings = loaded.arms[0].settings
    llm = Counting(settings.videollms["scripted"])
    llm.log = Path(log)  # type: ignore[misc]
    store = Records(Path(records))

    def perceive(*_: object) -> None:
        raise AssertionError("the study has no cues to perceive")

    Run(loaded, store, llm, perceive)()  # type: ignore[arg-type]
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
