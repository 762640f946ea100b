"""What mmaction2 1.2.0 and mmpose 1.3.2 need to import and run beside numpy 2 and torch >= 2.6.

One ``Trap`` for each thing that is missing or broken. ``install`` looks at each and mends only what
needs it, so that a complete installation is left alone. Nothing here runs until
``perception.skeleton.openmmlab.stack`` is asked for one of OpenMMLab's packages.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["TRAPS", "Trap", "install"]


@dataclass(frozen=True, slots=True)
class Trap:
    """One thing that does not work out of the box.

    Args:
        name: what it is about.
        report: where the fault is reported or explained.
        broken: whether it is missing or broken in this process.
        mend: makes it work for this process; called only when broken.
    """

    name: str
    report: str
    broken: Callable[[], bool]
    mend: Callable[[], None]


def install() -> tuple[str, ...]:
    """Mend what is broken, in the order of ``TRAPS``; the names of what was mended."""
    mended = []
    for trap in TRAPS:
        if trap.broken():
            trap.mend()
            mended.append(trap.name)
    return tuple(mended)


def _installed(name: str) -> bool:
    """Whether module ``name`` is imported or can be found; imports its parents."""
    if name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _imports(name: str) -> bool:
    """Whether module ``name`` imports; a failed import leaves nothing of its package behind."""
    top = name.partition(".")[0]
    before = set(sys.modules)
    try:
        importlib.import_module(name)
    except Exception:
        for left in set(sys.modules) - before:
            if left.partition(".")[0] == top:
                del sys.modules[left]
        return False
    return True


def _stand_in(name: str, *, package: bool = False, **attributes: Any) -> None:
    """Put a module ``name`` that has ``attributes`` where the import system finds it first."""
    module = ModuleType(name, "Stands in for a module that is not installed.")
    module.__spec__ = ModuleSpec(name, None, is_package=package)
    if package:
        module.__path__ = []
    module.__dict__.update(attributes)
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], child, module)


def _unavailable(name: str, why: str) -> type:
    """A class that can be imported and subclassed, and says why when it is made."""

    def refuse(self: object, *_: object, **__: object) -> None:
        raise NotImplementedError(f"{name} is not available: {why}.")

    return type(name, (), {"__init__": refuse})


def _numpy_lacks_inf() -> bool:
    import numpy as np

    return not hasattr(np, "Inf")


def _restore_inf() -> None:
    import numpy as np

    vars(np)["Inf"] = np.inf


_DRN = "mmaction.models.localizers.drn"


def _mmaction_lacks_drn() -> bool:
    if _DRN in sys.modules or not _installed("mmaction"):
        return False
    spec = importlib.util.find_spec("mmaction")
    folders = (spec.submodule_search_locations or ()) if spec else ()
    return not any(
        (Path(folder) / "models" / "localizers" / "drn" / "drn.py").is_file() for folder in folders
    )


def _stand_in_for_drn() -> None:
    _stand_in(_DRN, package=True)
    _stand_in(f"{_DRN}.drn", DRN=_unavailable("DRN", "the wheel of mmaction2 1.2.0 lacks it"))


_MULTIMODAL = "mmaction.models.multimodal"
_LAST_TRANSFORMERS = 4


def _mmaction_lacks_timm() -> bool:
    """With transformers installed, mmaction2 imports its models of text and video, which need timm
    and the transformers of before release 5; without it, it leaves them out."""
    if _MULTIMODAL in sys.modules or not _installed("mmaction"):
        return False
    try:
        major = int(version("transformers").partition(".")[0])
    except PackageNotFoundError:
        return False
    return major > _LAST_TRANSFORMERS or not _installed("timm")


def _leave_out_multimodal() -> None:
    _stand_in(_MULTIMODAL, package=True)


def _mmcv_lacks_ops() -> bool:
    return "mmcv.ops" not in sys.modules and _installed("mmcv") and not _installed("mmcv._ext")


def _stand_in_for_ops() -> None:
    attention = "MultiScaleDeformableAttention"
    refusing = _unavailable(attention, "it needs the compiled mmcv, and this is mmcv-lite")
    _stand_in("mmcv.ops", package=True, **{attention: refusing})


def _mmdet_is_missing() -> bool:
    return not _installed("mmdet")


def _stand_in_for_mmdet() -> None:
    """The three names that mmpose's RTMO head imports."""
    from mmengine.config import ConfigDict

    plain = ConfigDict | dict[str, Any]
    _stand_in("mmdet", package=True)
    _stand_in("mmdet.utils", ConfigType=plain, OptConfigType=plain | None, reduce_mean=_reduce_mean)


def _reduce_mean(tensor: Any) -> Any:
    """The mean of a tensor over all processes of a distributed run, as mmdet has it."""
    import torch.distributed as dist

    if not (dist.is_available() and dist.is_initialized()):
        return tensor
    shared = tensor.clone()
    dist.all_reduce(shared.div_(dist.get_world_size()), op=dist.ReduceOp.SUM)
    return shared


_SIMCC = "mmpose.visualization.simcc_vis"


def _torchvision_is_missing() -> bool:
    if _SIMCC in sys.modules or not _installed("mmpose"):
        return False
    return not _imports("torchvision.transforms")


def _stand_in_for_simcc() -> None:
    """Only mmpose's drawing of SimCC bars needs torchvision. It is replaced, not torchvision, so
    that no other library takes a stand-in for the real one."""
    why = "it needs a torchvision that fits the installed torch"
    _stand_in(_SIMCC, SimCCVisualizer=_unavailable("SimCCVisualizer", why))


def _xtcocotools_is_broken() -> bool:
    return _installed("pycocotools") and not _imports("xtcocotools.mask")


def _alias_xtcocotools() -> None:
    import pycocotools.coco
    import pycocotools.cocoeval
    import pycocotools.mask

    class COCOeval(pycocotools.cocoeval.COCOeval):  # type: ignore[misc]
        """pycocotools' evaluation with the two arguments that xtcocotools adds."""

        def __init__(
            self,
            cocoGt: Any = None,  # noqa: N803 - the names of the original
            cocoDt: Any = None,  # noqa: N803
            iouType: str = "keypoints",  # noqa: N803
            sigmas: Any = None,
            use_area: bool = True,
        ) -> None:
            if iouType not in {"keypoints", "bbox", "segm"} or not use_area:
                raise NotImplementedError(
                    f"iouType={iouType!r} with use_area={use_area} needs the real xtcocotools."
                )
            super().__init__(cocoGt, cocoDt, iouType)
            if sigmas is not None:
                import numpy as np

                self.params.kpt_oks_sigmas = np.asarray(sigmas)

    _stand_in("xtcocotools", package=True)
    _stand_in("xtcocotools.coco", COCO=pycocotools.coco.COCO)
    _stand_in("xtcocotools.cocoeval", COCOeval=COCOeval)
    public = {k: v for k, v in vars(pycocotools.mask).items() if not k.startswith("__")}
    _stand_in("xtcocotools.mask", **public)


def _mmengine_unpickles() -> bool:
    """The loader of local files is not ours but mmengine's, which leaves ``weights_only`` to torch:
    from 2.6 on it refuses the files of mmengine's own Runner, before it runs any pickle."""
    from mmengine.runner.checkpoint import CheckpointLoader

    from perception.skeleton.openmmlab import loading

    return CheckpointLoader._schemes.get("") is not loading.for_mmengine


def _load_weights_only() -> None:
    from mmengine.runner.checkpoint import CheckpointLoader

    from perception.skeleton.openmmlab import loading

    CheckpointLoader.register_scheme(prefixes="", loader=loading.for_mmengine, force=True)


TRAPS: tuple[Trap, ...] = (
    Trap(
        "numpy.Inf",
        "https://numpy.org/doc/2.0/numpy_2_0_migration_guide.html (removed; mmaction2's PoseCompact"
        " uses it)",
        _numpy_lacks_inf,
        _restore_inf,
    ),
    Trap(
        _DRN,
        "https://github.com/open-mmlab/mmaction2/issues/2714",
        _mmaction_lacks_drn,
        _stand_in_for_drn,
    ),
    Trap(
        _MULTIMODAL,
        "https://github.com/open-mmlab/mmaction2/blob/v1.2.0/mmaction/models/multimodal/vindlu/"
        "temporal_model.py (imports timm, which mmaction2 does not require)",
        _mmaction_lacks_timm,
        _leave_out_multimodal,
    ),
    Trap(
        "mmcv.ops",
        "https://github.com/open-mmlab/mmpose/issues/3014",
        _mmcv_lacks_ops,
        _stand_in_for_ops,
    ),
    Trap(
        "mmdet.utils",
        "https://github.com/open-mmlab/mmpose/blob/v1.3.2/mmpose/models/heads/hybrid_heads/"
        "rtmo_head.py (imports mmdet, which mmpose does not require)",
        _mmdet_is_missing,
        _stand_in_for_mmdet,
    ),
    Trap(
        "torchvision",
        "https://github.com/pytorch/vision/issues/9085",
        _torchvision_is_missing,
        _stand_in_for_simcc,
    ),
    Trap(
        "xtcocotools",
        "https://github.com/jin-s13/xtcocoapi/issues/45",
        _xtcocotools_is_broken,
        _alias_xtcocotools,
    ),
    Trap(
        "mmengine's checkpoint loader",
        "https://github.com/open-mmlab/mmengine/issues/1655",
        _mmengine_unpickles,
        _load_weights_only,
    ),
)
"""Everything else that goes wrong is settled by what the extra ``openmmlab`` pins: mmcv-lite below
2.2 (mmaction2 refuses later ones), setuptools below 81 (pkg_resources), and packages
that OpenMMLab uses without requiring (importlib-metadata, six, munkres)."""
