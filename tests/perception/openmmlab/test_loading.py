"""Checkpoints are data: what mmengine writes is read, what could run code is refused by name."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perception.errors import BadInput, WeightsError
from perception.skeleton.openmmlab import loading, stack

torch = pytest.importorskip("torch", reason="needs the extra openmmlab")

WEIGHTS = {"cls_head.fc_cls.bias": torch.arange(3.0)}


class Evil:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.folder),)


OWN = Path("own.pth")


def saved(path: Path, document: object) -> Path:
    torch.save(document, path)
    return path


def test_weights_and_metadata_are_read(tmp_path: Path) -> None:
    meta = {"dataset_meta": {"classes": ("sit", "stand")}, "time": "now", "epoch": 24}
    scores = {"best": np.float64(0.9), "all": np.arange(3, dtype=np.float32)}
    path = saved(tmp_path / "a.pth", {"state_dict": WEIGHTS, "meta": meta, "scores": scores})
    document = loading.load_checkpoint(path)
    assert loading.class_names(document) == ("sit", "stand")
    assert document["scores"]["best"] == 0.9
    assert torch.equal(
        loading.state_dict(document, OWN)["cls_head.fc_cls.bias"], WEIGHTS["cls_head.fc_cls.bias"]
    )


@pytest.mark.parametrize(
    ("meta", "names"),
    [
        ({"CLASSES": ["a", "b"]}, ("a", "b")),
        ({"dataset_meta": {"CLASSES": ("c",)}}, ("c",)),
        ({"dataset_meta": {}}, ()),
        ({"CLASSES": None}, ()),
        (None, ()),
    ],
)
def test_class_names_of_either_generation(meta: Any, names: tuple[str, ...]) -> None:
    assert loading.class_names({"meta": meta}) == names


def test_weights_without_an_envelope_and_of_a_wrapped_model() -> None:
    assert loading.state_dict(WEIGHTS, OWN).keys() == WEIGHTS.keys()
    wrapped = {"state_dict": {f"module.{name}": value for name, value in WEIGHTS.items()}}
    assert loading.state_dict(wrapped, OWN).keys() == WEIGHTS.keys()
    with pytest.raises(
        WeightsError, match=r"checkpoint 'own.pth' holds no state_dict; it has meta"
    ):
        loading.state_dict({"meta": {}}, OWN)


def test_a_pickle_that_runs_code_is_refused_by_name_and_does_not_run(tmp_path: Path) -> None:
    path = saved(tmp_path / "evil.pth", {"state_dict": WEIGHTS, "meta": Evil(tmp_path / "made")})
    with pytest.raises(WeightsError, match=r"evil\.pth.*mkdir, which could run code"):
        loading.load_checkpoint(path)
    assert not (tmp_path / "made").exists()


def test_getattr_gives_nothing_that_could_be_called(tmp_path: Path) -> None:
    path = tmp_path / "sly.pth"
    call = b"cbuiltins\ngetattr\n(cos\npath\nVmkdir\ntRp0\n(V" + str(tmp_path / "made").encode()
    for inner in (b"cbuiltins\ngetattr\n(Va\nVmkdir\ntR(Vx\ntR.", call + b"\ntR."):
        path.write_bytes(b"\x80\x02" + inner)
        with pytest.raises(WeightsError, match=r"sly\.pth"):
            loading.load_checkpoint(path)
    assert not (tmp_path / "made").exists()


def test_an_old_pickle_that_runs_code_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.pth"
    path.write_bytes(pickle.dumps(Evil(tmp_path / "made")))
    with pytest.raises(WeightsError, match=r"old\.pth"):
        loading.load_checkpoint(path)
    assert not (tmp_path / "made").exists()


def test_only_a_folder_of_the_users_own_is_unpickled_in_full(tmp_path: Path) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    own.mkdir()
    other.mkdir()
    mine = saved(own / "mine.pth", {"state_dict": WEIGHTS, "x": Evil(tmp_path / "ran")})
    theirs = saved(other / "theirs.pth", {"state_dict": WEIGHTS, "x": Evil(tmp_path / "no")})
    (own / "link.pth").symlink_to(theirs)
    with loading.trusted(own):
        loading.load_checkpoint(mine)
        for path in (theirs, own / "link.pth"):
            with pytest.raises(WeightsError):
                loading.load_checkpoint(path)
    assert (tmp_path / "ran").exists()
    assert not (tmp_path / "no").exists()
    with pytest.raises(WeightsError):
        loading.load_checkpoint(mine)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut", b"not a checkpoint", b"\x80\x02."])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cut.pth"
    path.write_bytes(content)
    with pytest.raises(WeightsError, match=r"cut\.pth"):
        loading.load_checkpoint(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", r"is damaged or is no checkpoint of torch \(it is empty\)"),
        (b"Not found\n", r"is no checkpoint of torch \(it begins with 'Not found'\)"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 8\n",
            r"begins with 'version https://git-lfs.*of git-LFS do: git lfs pull fetches the file\)",
        ),
        (b"<!DOCTYPE html><html>" + b"x" * 300, r"begins with '<!DOCTYPE html><html>x+…'"),
    ],
)
def test_a_text_that_is_named_like_a_checkpoint_is_told(
    tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "text.pth"
    path.write_bytes(content)
    with pytest.raises(WeightsError, match=said):
        loading.load_checkpoint(path)


def test_a_missing_file_and_a_file_without_names_are_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no checkpoint .*absent\.pth"):
        loading.load_checkpoint(tmp_path / "absent.pth")
    with pytest.raises(WeightsError, match="holds a Tensor"):
        loading.load_checkpoint(saved(tmp_path / "t.pth", torch.zeros(2)))


def test_what_mmengines_runner_saves_is_read_without_unpickling(tmp_path: Path) -> None:
    pytest.importorskip("mmengine", reason="needs the extra openmmlab")
    stack.load("mmengine.runner", "A test")
    from mmengine.model import BaseModel
    from mmengine.optim import OptimWrapper
    from mmengine.runner import Runner, load_checkpoint

    class Toy(BaseModel):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)

        def forward(self, inputs: Any, mode: str = "loss") -> Any:
            return {"loss": self.linear(inputs).square().sum()}

    model = Toy()
    runner = Runner(
        model,
        str(tmp_path),
        train_dataloader=torch.utils.data.DataLoader([{"inputs": torch.ones(2)}] * 4),
        train_cfg={"by_epoch": True, "max_epochs": 1},
        optim_wrapper=OptimWrapper(torch.optim.SGD(model.parameters(), lr=0.01)),
        experiment_name="cuelight-test",
        log_level="ERROR",
    )
    runner.train()
    path = tmp_path / "epoch_1.pth"
    # the file does hold what torch refuses by itself
    with pytest.raises(pickle.UnpicklingError, match="HistoryBuffer"):
        torch.load(path, weights_only=True)

    document = loading.load_checkpoint(path)
    assert torch.equal(loading.state_dict(document, OWN)["linear.weight"], model.linear.weight)
    again = Toy()
    load_checkpoint(again, str(path))
    assert torch.equal(again.linear.weight, model.linear.weight)
