"""PoseC3D in torch: the same network as the ONNX and as mmaction2's, trained, killed, resumed."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perception.errors import BadInput, CuelightError, WeightsError
from perception.shipped import shipped
from perception.skeleton.training.architecture import ARCHITECTURES, FULL, SLIM, Architecture
from perception.skeleton.training.batches import Batches, stacked
from perception.skeleton.training.plan import Plan, Settings, prepare
from tests.perception.acting import write_corpus

torch = pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("onnx", reason="needs the extra train")

from perception.skeleton.training import evaluation, trainer, weights  # noqa: E402
from perception.skeleton.training.export import averaged, write_onnx  # noqa: E402
from perception.skeleton.training.fit import Clock, Recipe, Run, Told, fit, rate_at  # noqa: E402
from perception.skeleton.training.network import PoseC3D, heatmap_batch  # noqa: E402

EMBEDDED = shipped("checkpoints") / "posec3d_mimed" / "posec3d_mimed.onnx"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(folder, videos=8)
    return folder


@pytest.fixture(scope="module")
def plan(corpus: Path) -> Plan:
    return prepare(corpus, Settings(init="none"), SLIM)


@pytest.fixture(scope="module")
def views(plan: Plan) -> tuple[Any, Any]:
    examples, rng = plan.examples(), np.random.default_rng(0)
    drawn = [examples.draw(rng) for _ in range(48)]
    return np.stack([e.points for e in drawn]), np.stack([e.scores for e in drawn])


def test_the_slim_network_is_as_large_as_it_is_said_to_be() -> None:
    net = PoseC3D(SLIM, 45, joints=17)
    assert sum(p.numel() for p in net.parameters()) == 310_781


@pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=list(ARCHITECTURES))
def test_a_network_is_the_same_in_mmaction2(architecture: Architecture) -> None:
    pytest.importorskip("mmaction", reason="needs the extra openmmlab")
    from perception.skeleton.openmmlab import stack

    stack.load("mmaction.models.recognizers", "This test")
    from mmaction.registry import MODELS
    from mmengine.registry import DefaultScope

    with DefaultScope.overwrite_default_scope("mmaction"):
        theirs = MODELS.build(architecture.mmaction_config(7)).eval()
    ours = PoseC3D(architecture, 7, joints=17).eval()
    for module in ours.modules():
        if isinstance(module, torch.nn.BatchNorm3d):
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.normal_(module.running_mean)
    theirs.load_state_dict(ours.state_dict())
    volume = torch.rand(1, 17, architecture.shape.frames, 24, 24)
    with torch.no_grad():
        expected = theirs.cls_head(theirs.backbone(volume))
        assert torch.allclose(ours(volume), expected, rtol=1e-4, atol=1e-4)


def onnx_logits(path: Path, volumes: Any) -> Any:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, {"heatmap": volumes})[0]


def test_the_embedded_onnx_computes_the_same_in_torch_in_training_mode_too(
    views: tuple[Any, Any],
) -> None:
    start = weights.unfolded(weights.read(EMBEDDED), *views)
    assert (start.architecture, len(start.classes)) == (SLIM, 45)
    net = averaged(start.weights, SLIM)
    volumes = np.zeros((48, 17, 20, 40, 40), np.float32)
    points, scores = map(torch.from_numpy, views)
    volumes[:, list(SLIM.joints)] = heatmap_batch(points, scores, SLIM, torch.float32).numpy()
    expected = onnx_logits(EMBEDDED, volumes)
    with torch.no_grad():
        assert np.abs(net(torch.from_numpy(volumes)).numpy() - expected).max() < 1e-4
        net.cls_head.dropout.p = 0.0
        trained = net.train()(torch.from_numpy(volumes)).numpy()
    assert np.abs(trained - expected).max() < 0.05
    assert (trained.argmax(axis=1) == expected.argmax(axis=1)).all()


def test_what_is_exported_can_be_begun_with(tmp_path: Path, views: tuple[Any, Any]) -> None:
    torch.manual_seed(0)
    trained = PoseC3D(SLIM, 3)
    trained(torch.rand(8, len(SLIM.joints), 20, 40, 40))
    net = averaged(trained.state_dict(), SLIM)
    assert write_onnx(net, tmp_path / "a.onnx") < 1e-4
    (tmp_path / "labels.json").write_text(json.dumps({"classes": ["a", "b", "c"]}))
    start = weights.unfolded(weights.read(tmp_path / "a.onnx"), *views)
    assert start.classes == ("a", "b", "c")
    volumes = torch.rand(2, 17, 20, 40, 40)
    with torch.no_grad():
        again = averaged(start.weights, SLIM)(volumes).numpy()
    expected = onnx_logits(tmp_path / "a.onnx", volumes.numpy())
    assert np.abs(again - expected).max() < 1e-4 * np.abs(expected).max()


def test_a_new_head_keeps_the_outputs_of_labels_that_it_knows() -> None:
    start = weights.read(EMBEDDED)
    found = weights.with_head(start, ("clap", "somersault", "none"))
    for part in weights.HEAD:
        assert torch.equal(found[part][0], start.weights[part][start.classes.index("clap")])
        assert torch.equal(found[part][2], start.weights[part][start.classes.index("none")])
        assert len(found[part]) == 3
    assert weights.with_head(start, start.classes) is start.weights


@pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=list(ARCHITECTURES))
@pytest.mark.parametrize("joints", [None, 17])
def test_a_checkpoint_of_mmaction2_can_be_begun_with(
    tmp_path: Path, architecture: Architecture, joints: int | None
) -> None:
    net = PoseC3D(architecture, 5, joints=joints)
    meta = {"dataset_meta": {"classes": ["a", "b", "c", "d", "e"]}}
    state = {"meta": meta, "state_dict": net.state_dict()}
    torch.save(state, tmp_path / "theirs.pth")
    start = weights.read(tmp_path / "theirs.pth")
    assert start.architecture is architecture
    assert start.classes == ("a", "b", "c", "d", "e")
    PoseC3D(architecture, 5).load_state_dict(start.weights)


@pytest.mark.parametrize(
    ("name", "content", "error", "said"),
    [
        ("absent.pth", None, BadInput, "There are no weights"),
        ("text.pth", b"hello", WeightsError, "damaged or is no checkpoint|is not loaded"),
        ("text.onnx", b"hello", BadInput, "is no ONNX of a PoseC3D"),
        ("empty.onnx", b"", BadInput, "is no ONNX of a PoseC3D"),
    ],
)
def test_weights_that_are_none_are_told(
    tmp_path: Path, name: str, content: bytes | None, error: type[Exception], said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(error, match=said):
        weights.read(tmp_path / name)


def test_weights_of_another_network_are_told(tmp_path: Path) -> None:
    torch.save({"state_dict": {"fc.weight": torch.zeros(2)}}, tmp_path / "other.pth")
    with pytest.raises(BadInput, match="known are slim, full"):
        weights.read(tmp_path / "other.pth")
    torch.save({"average": PoseC3D(SLIM, 2).state_dict()}, tmp_path / "slim.pth")
    settings = Settings(init=str(tmp_path / "slim.pth"), arch="full")
    with pytest.raises(BadInput, match="weights of the slim network"):
        trainer.initial(settings)


class Evil:
    def __reduce__(self) -> Any:
        return os.system, ("touch /tmp/was-executed",)


def test_nothing_in_a_checkpoint_is_executed(tmp_path: Path) -> None:
    torch.save({"state_dict": Evil()}, tmp_path / "evil.pth")
    with pytest.raises(WeightsError, match="could run code"):
        weights.read(tmp_path / "evil.pth")


def test_the_rate_warms_up_and_falls_to_its_floor() -> None:
    rates = [rate_at(done / 1000, 2.0) for done in range(1001)]
    assert max(rates) == pytest.approx(2.0)
    assert rates.index(max(rates)) == 50
    assert rates[1000] == pytest.approx(0.01)


def test_a_run_goes_on_where_its_checkpoint_stands(tmp_path: Path, plan: Plan) -> None:
    examples, rng = plan.examples(), np.random.default_rng(0)

    def take() -> Any:
        return stacked([examples.draw(rng) for _ in range(4)])

    lines: list[str] = []
    settings = {"seed": 1}
    recipe = Recipe(minutes=2 / 60, batch=4)
    path = tmp_path / "checkpoint.pth"
    run = Run(SLIM, plan.classes, recipe, path, settings=settings)
    fit(run, take, Told(lines.append, lambda _: "fine", save_every_s=1.0))
    assert run.elapsed_s >= 2
    assert lines[-1] == f"finished: {run.step} steps of 4; fine"
    again = Run(SLIM, plan.classes, recipe, path, settings=settings)
    again.resume(same=settings)
    assert (again.step, again.elapsed_s) == (run.step, run.elapsed_s)
    for a, b in zip(run.net.parameters(), again.net.parameters(), strict=True):
        assert torch.equal(a, b)
    with pytest.raises(BadInput, match="another run; it differs in seed"):
        again.resume(same={"seed": 2})
    other = Run(SLIM, ("a", "b"), recipe, path)
    with pytest.raises(BadInput, match="trained for other classes"):
        other.resume()


def test_the_runner_of_mmaction2_trains_the_same_network(tmp_path: Path, corpus: Path) -> None:
    pytest.importorskip("mmaction", reason="needs the extra openmmlab")
    settings = Settings(init="none", minutes=0.02, batch=4, threads=1, backend="mmaction2")
    architecture, start = trainer.initial(settings)
    plan = prepare(corpus, settings, architecture)
    run = trainer.begin(plan, start, tmp_path)
    before = {name: value.clone() for name, value in run.net.state_dict().items()}
    lines: list[str] = []
    trainer.learn(run, plan, trainer.Hearer(lines.append, lambda *_: None))
    assert run.step >= 1
    assert lines[-1].startswith(f"finished: {run.step} steps of 4")
    assert not torch.equal(before[weights.HEAD[0]], run.net.state_dict()[weights.HEAD[0]])
    again = trainer.begin(plan, start, tmp_path)
    assert (again.step, again.elapsed_s) == (run.step, run.elapsed_s)
    for name, value in run.net.state_dict().items():
        assert torch.equal(value, again.net.state_dict()[name])


def broken(_: bytes) -> Any:
    raise RuntimeError("no examples")


def test_when_no_examples_can_be_made_the_training_ends() -> None:
    more_than_a_pipe_holds = bytes(1 << 20)
    batches = Batches(functools.partial(broken, more_than_a_pipe_holds), 4, 0)
    with pytest.raises(CuelightError, match="process that makes the training examples ended"):
        batches.take()
    batches.close()


def test_batches_are_the_same_for_the_same_seed(plan: Plan) -> None:
    found = []
    for _ in range(2):
        batches = Batches(plan.examples, 3, 7)
        found.append([batches.take() for _ in range(2)])
        batches.close()
    for one, other in zip(*found, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert not np.array_equal(found[0][0][0], found[0][1][0])


TRAIN = """
import sys
from perception.skeleton.training import evaluation, trainer
evaluation.MADE, trainer.SAVE_EVERY_S = 2, 1.0
from reasoning.cli import main
main(sys.argv[1:])
"""


def command(corpus: Path, out: Path, *more: str) -> list[str]:
    arguments = ["train", "posec3d", str(corpus), "--out", str(out), "--threads", "1"]
    return [sys.executable, "-c", TRAIN, *arguments, "--batch", "4", *more]


def children(pid: int) -> list[int]:
    return [
        int(status.parent.name)
        for status in Path("/proc").glob("[0-9]*/status")
        if f"\nPPid:\t{pid}\n" in status.read_text()
    ]


def alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


def test_a_long_silence_is_followed_by_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    now, lines = [0.0], list[str]()
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    run = Run(SLIM, ["a", "b"], Recipe(minutes=10), tmp_path / "checkpoint.pth")
    clock = Clock(run, Told(lines.append, lambda _: "", line_every_s=60, save_every_s=60))
    for now[0] in (10.0, 300.0, 301.0, 302.0, 600.0):
        clock.step(loss=64.0, right=8, count=32)
    assert [line.partition(" rate ")[0] for line in lines] == ["5.0 min step 0", "10.0 min step 0"]
    assert lines[0].endswith("loss 2.000 accuracy 0.250 (0 examples/s)")
    clock.end()
    assert lines[2:] == ["finished: 0 steps of 32"]


@pytest.mark.timeout(900)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_a_killed_training_leaves_no_process_and_goes_on(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = subprocess.Popen(
        command(corpus, out, "--minutes", "10"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    until = time.monotonic() + 120
    while not (out / "checkpoint.pth").exists() and time.monotonic() < until:
        assert first.poll() is None, first.stderr and first.stderr.read()
        time.sleep(0.2)
    makers = children(first.pid)
    assert makers
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    before = torch.load(out / "checkpoint.pth", weights_only=True)
    assert before["step"] > 0
    minutes = str(round(before["elapsed_s"] / 60 + 0.02, 4))
    ran = subprocess.run(
        command(corpus, out, "--minutes", minutes), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "goes on from" in ran.stderr
    assert "prepares examples out of " in ran.stderr
    after = torch.load(out / "checkpoint.pth", weights_only=True)
    assert after["step"] > before["step"]
    assert not any(map(alive, makers))
    # a finished training is only measured and written again
    ran = subprocess.run(
        command(corpus, out, "--minutes", minutes, "--quiet", "--json"),
        capture_output=True,
        text=True,
        check=False,
    )
    document = json.loads(ran.stdout)
    assert document["trained"]["steps"] == after["step"]
    how = {name: document["trained"][name] for name in ("batch", "learning_rate", "seed")}
    assert how == {"batch": 4, "learning_rate": 0.001, "seed": 0}
    assert document["trained"]["backend"] in ("torch", "mmaction2")
    assert ran.stderr == ""
    ran = subprocess.run(
        command(corpus, out, "--minutes", minutes, "--seed", "3"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert "belongs to another run; it differs in seed" in ran.stderr


@pytest.mark.timeout(900)
def test_the_full_network_learns_and_is_exported(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "MADE", 1)
    settings = Settings(init="none", arch="full", minutes=0.001, batch=2, threads=1)
    architecture, start = trainer.initial(settings)
    plan = prepare(corpus, settings, architecture)
    parts = list(plan.split.parts)
    parts[parts.index("calibration") + 1 :] = ["train"] * len(
        parts[parts.index("calibration") + 1 :]
    )
    parts[-2:] = ["test", "test"]
    small = replace(plan, split=replace(plan.split, parts=tuple(parts)))
    document = trainer.train(small, start, tmp_path, trainer.Hearer(print, lambda *_: None))
    assert document["trained"]["steps"] >= 1
    assert document["held_out"]["spans"] == parts.count("test")
    volumes = np.zeros((1, 17, 48, 56, 56), np.float32)
    assert onnx_logits(tmp_path / "posec3d.onnx", volumes).shape == (1, 4)
    labels = json.loads((tmp_path / "labels.json").read_text())
    assert labels["shape"] == {"frames": 48, "size": 56, "sigma": 0.6, "padding": 0.25}
    assert labels["joints"] == list(FULL.joints)
