"""Each trap in both states: mended where the real thing is missing or broken, else left alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import perception
from perception.skeleton.openmmlab.compat import TRAPS

ROOT = Path(perception.__file__).parent.parent

MMENGINE = {
    "mmengine/__init__.py": "",
    "mmengine/config.py": "class ConfigDict(dict): pass",
    "mmengine/runner/__init__.py": "",
    "mmengine/runner/checkpoint.py": (
        "class CheckpointLoader:\n"
        "    _schemes = {'': len}\n"
        "    @classmethod\n"
        "    def register_scheme(cls, prefixes, loader=None, force=False):\n"
        "        cls._schemes[prefixes] = loader\n"
    ),
}
MMACTION = {"mmaction/__init__.py": "raise RuntimeError('must not be imported to be looked at')"}
TRANSFORMERS = {
    "transformers-4.57.0.dist-info/METADATA": (
        "Metadata-Version: 2.1\nName: transformers\nVersion: 4.57.0"
    )
}
MMPOSE = {"mmpose/__init__.py": ""}
MMCV = {"mmcv/__init__.py": ""}
PYCOCO = {
    "pycocotools/__init__.py": "",
    "pycocotools/coco.py": "class COCO: pass",
    "pycocotools/cocoeval.py": (
        "class COCOeval:\n"
        "    def __init__(self, gt, dt, kind):\n"
        "        self.params = type('Params', (), {'kpt_oks_sigmas': None})()\n"
    ),
    "pycocotools/mask.py": "def area(x): return 7",
}
HIDE = (
    "class Hidden:\n"
    "    def find_spec(self, name, path=None, target=None):\n"
    "        if name.partition('.')[0] in {hidden!r}: raise ModuleNotFoundError(name)\n"
    "sys.meta_path.insert(0, Hidden())\n"
)
SCRIPT = """
import importlib, json, sys
{hide}{before}
from perception.skeleton.openmmlab.compat import TRAPS
trap = {{trap.name: trap for trap in TRAPS}}[{name!r}]
broken = trap.broken()
if broken:
    trap.mend()
after = trap.broken()
{look}
print(json.dumps([broken, after, found]))
"""

CASES: dict[str, dict[str, Any]] = {
    "mmaction.models.multimodal": {
        "broken": {"files": {**MMACTION, **TRANSFORMERS}, "hidden": ["timm"]},
        "whole": {"files": {**MMACTION, **TRANSFORMERS, "timm/__init__.py": ""}},
        "look": "found = 'mmaction.models.multimodal' in sys.modules",
        "expected": (True, False),
    },
    "numpy.Inf": {
        "broken": {"before": "import numpy; vars(numpy).pop('Inf', None)"},
        "whole": {"before": "import numpy; numpy.Inf = 'the real one'"},
        "look": "import numpy; found = str(numpy.Inf)",
        "expected": ("inf", "the real one"),
    },
    "mmaction.models.localizers.drn": {
        "broken": {"files": MMACTION},
        "whole": {
            "files": {**MMACTION, "mmaction/models/localizers/drn/drn.py": "DRN = 'the real one'"}
        },
        "look": (
            "mended = sys.modules.get('mmaction.models.localizers.drn.drn')\n"
            "found = mended.DRN.__name__ if mended else None"
        ),
        "expected": ("DRN", None),
    },
    "mmcv.ops": {
        "broken": {"files": MMCV},
        "whole": {
            "files": {
                **MMCV,
                "mmcv/_ext.py": "",
                "mmcv/ops.py": "class MultiScaleDeformableAttention: pass",
            }
        },
        "look": (
            "from mmcv.ops import MultiScaleDeformableAttention as attention\n"
            "try: found = type(attention()).__name__\n"
            "except NotImplementedError as error: found = str(error)"
        ),
        "expected": (
            "MultiScaleDeformableAttention is not available: "
            "it needs the compiled mmcv, and this is mmcv-lite.",
            "MultiScaleDeformableAttention",
        ),
    },
    "mmdet.utils": {
        "broken": {"files": MMENGINE, "hidden": ["mmdet"]},
        "whole": {
            "files": {
                **MMENGINE,
                "mmdet/__init__.py": "",
                "mmdet/utils.py": "def reduce_mean(tensor): return 'the real one'",
            }
        },
        "look": "import mmdet.utils; found = mmdet.utils.reduce_mean('alone')",
        "expected": ("alone", "the real one"),
        "needs": "torch",
    },
    "torchvision": {
        "broken": {
            "files": {
                **MMPOSE,
                "torchvision/__init__.py": "from torchvision import inner; raise RuntimeError",
                "torchvision/inner.py": "",
            }
        },
        "whole": {
            "files": {
                **MMPOSE,
                "torchvision/__init__.py": "",
                "torchvision/transforms.py": "",
            }
        },
        "look": "found = [n for n in sys.modules if n.startswith(('torchvision', 'mmpose.'))]",
        "expected": (
            ["mmpose.visualization.simcc_vis"],
            ["torchvision", "torchvision.transforms"],
        ),
    },
    "xtcocotools": {
        "broken": {
            "files": {
                **PYCOCO,
                "xtcocotools/__init__.py": "",
                "xtcocotools/mask.py": "raise ValueError('numpy.dtype size changed')",
            }
        },
        "whole": {
            "files": {
                **PYCOCO,
                "xtcocotools/__init__.py": "",
                "xtcocotools/mask.py": "def area(x): return 'the real one'",
            }
        },
        "look": "import xtcocotools.mask; found = xtcocotools.mask.area(0)",
        "expected": (7, "the real one"),
    },
    "mmengine's checkpoint loader": {
        "broken": {"files": MMENGINE},
        "whole": {
            "files": MMENGINE,
            "before": (
                "from mmengine.runner.checkpoint import CheckpointLoader as loader\n"
                "from perception.skeleton.openmmlab import loading\n"
                "loader.register_scheme('', loading.for_mmengine)"
            ),
        },
        "look": (
            "from mmengine.runner.checkpoint import CheckpointLoader as loader\n"
            "found = loader._schemes[''].__module__"
        ),
        "expected": (
            "perception.skeleton.openmmlab.loading",
            "perception.skeleton.openmmlab.loading",
        ),
    },
}


def run(folder: Path, name: str, case: dict[str, Any], look: str) -> list[Any]:
    for path, text in case.get("files", {}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    hide = HIDE.format(hidden=case["hidden"]) if "hidden" in case else ""
    script = SCRIPT.format(hide=hide, before=case.get("before", ""), name=name, look=look)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=env
    )
    assert done.returncode == 0, done.stderr
    answer: list[Any] = json.loads(done.stdout)
    return answer


def needed(case: dict[str, Any]) -> None:
    if "needs" in case:
        pytest.importorskip(case["needs"], reason="needs the extra openmmlab")


@pytest.mark.parametrize("name", CASES)
def test_what_is_broken_is_mended(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    needed(case)
    broken, after, found = run(tmp_path, name, case["broken"], case["look"])
    assert (broken, after) == (True, False)
    assert found == case["expected"][0]


@pytest.mark.parametrize("name", CASES)
def test_the_real_thing_is_left_alone(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    needed(case)
    broken, after, found = run(tmp_path, name, case["whole"], case["look"])
    assert (broken, after) == (False, False)
    assert found == case["expected"][1]


def test_every_trap_has_a_test_and_a_report() -> None:
    assert {trap.name for trap in TRAPS} == set(CASES)
    assert all(trap.report.startswith("https://") for trap in TRAPS)


def test_the_alias_of_xtcocotools_takes_its_sigmas(tmp_path: Path) -> None:
    look = (
        "from xtcocotools.cocoeval import COCOeval\n"
        "found = COCOeval(None, None, 'keypoints', [0.1, 0.2]).params.kpt_oks_sigmas.tolist()\n"
        "try: COCOeval(None, None, 'keypoints_crowd')\n"
        "except NotImplementedError as error: found.append(str(error))"
    )
    _, _, found = run(tmp_path, "xtcocotools", CASES["xtcocotools"]["broken"], look)
    assert found[:2] == [0.1, 0.2]
    assert "keypoints_crowd" in found[2]


def test_nothing_is_mended_before_a_backend_is_used() -> None:
    code = (
        "import sys, numpy\n"
        "import perception.recognizers.action, perception.skeleton.openmmlab.stack\n"
        "import perception.skeleton.openmmlab.loading\n"
        "names = ('mmengine', 'mmcv', 'mmaction', 'mmpose', 'mmdet', 'torch', 'xtcocotools')\n"
        "print([n for n in sys.modules if n.startswith(names)],"
        " hasattr(numpy, 'Inf'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] False"
