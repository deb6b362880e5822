import math
import os
import signal
import threading
from dataclasses import fields

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from unmix.training import (
    Minibatches,
    Player,
    Run,
    minimise,
    minimise_constrained,
    one_cycle,
    read_parameters,
    warm_up,
)
from unmix.training._mover import Mover
from unmix.training._settings import Settings


def _quadratic(target=0.0, start=1.0, n=2):
    w = torch.full((n,), start, requires_grad=True)
    return w, lambda batch: {"fit": ((w - target) ** 2).sum()}


def test_it_equals_a_bare_loop_with_torchs_optimiser():
    def model():
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3))

    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    batches = [Minibatches(x, batch_size=8, generator=torch.Generator().manual_seed(1)) for _ in range(2)]
    ours, bare, expected = model(), model(), []
    history = minimise(
        lambda batch: {"fit": ((ours(batch[0]) - batch[0]) ** 2).mean(), "size": ours(batch[0]).abs().mean()},
        ours, batches[0], n_steps=30, lr=0.01, schedule="one_cycle", clip_norm=0.5, weight_decay=0.1,
        weights={"size": warm_up(0.5, 10)},
    )  # fmt: skip
    optimiser = torch.optim.AdamW(bare.parameters(), weight_decay=0.1, fused=True)
    for step in range(30):
        (x,) = next(batches[1])
        optimiser.param_groups[0]["lr"] = 0.01 * one_cycle(30)(step)
        fit, size = ((bare(x) - x) ** 2).mean(), bare(x).abs().mean() * warm_up(0.5, 10)(step)
        optimiser.zero_grad()
        (fit + size).backward()
        nn.utils.clip_grad_norm_(bare.parameters(), 0.5)
        optimiser.step()
        expected.append((fit.item(), size.item()))
    assert list(zip(*history.terms.values(), strict=True)) == expected
    assert all(torch.equal(a, b) for a, b in zip(ours.parameters(), bare.parameters(), strict=True))


@settings(max_examples=5)
@given(st.floats(-2, 2), st.floats(-2, 2))
def test_it_finds_the_minimum_of_a_quadratic(target, start):
    w, loss = _quadratic(target, start)
    history = minimise(loss, {"w": w}, [None], n_steps=300, lr=0.1, schedule="cosine")
    assert w.tolist() == pytest.approx([target] * 2, abs=1e-2)
    assert history.stopped == "finished" and history.n_steps == len(history.objective) == 300
    assert history.seconds > 0


def test_clipping_bounds_the_gradient_that_adam_sees():
    seen = []
    w = torch.full((4,), 100.0, requires_grad=True)
    minimise(
        lambda batch: {"fit": (w**2).sum()}, {"w": w}, [None], n_steps=1, clip_norm=0.5,
        on_step=lambda step, terms: seen.append(w.grad.norm().item()),
    )  # fmt: skip
    assert seen == [pytest.approx(0.5, rel=1e-4)]


def test_averaged_parameters_are_what_remains_and_raw_ones_are_saved(tmp_path):
    visited, decay = [], 0.8
    w, loss = _quadratic()
    minimise(
        loss, {"w": w}, [None], n_steps=20, lr=0.1, ema=decay, checkpoint=tmp_path,
        on_step=lambda step, terms: visited.append(w.detach().double().clone()),
    )  # fmt: skip
    weights = [decay ** (19 - step) for step in range(20)]
    oracle = sum(a * v for a, v in zip(weights, visited, strict=True)) / sum(weights)
    assert torch.allclose(w.double(), oracle, atol=1e-6)
    assert torch.equal(read_parameters(tmp_path)["w"].double(), visited[-1])


def test_buffers_and_frozen_tensors_are_carried_not_trained(tmp_path):
    w, frozen = torch.ones(2, requires_grad=True), torch.full((2,), 3.0)
    minimise(
        lambda _: {"fit": ((w * frozen) ** 2).sum()},
        {"w": w, "frozen": frozen},
        [0],
        n_steps=3,
        checkpoint=tmp_path,
    )
    assert frozen.tolist() == [3.0, 3.0]
    assert set(read_parameters(tmp_path)) == {"w", "frozen"}


def test_patience_stops_a_run_that_no_longer_improves():
    w = torch.ones(1, requires_grad=True)
    history = minimise(
        lambda _: {"fit": (w**2).sum() + 1}, {"w": w}, [0], n_steps=2000, lr=0.05, patience=100
    )
    assert history.stopped == "patience" and 100 < history.n_steps < 2000
    assert history.n_steps % 50 == 0


def test_a_monitor_is_watched_instead():
    w, loss = _quadratic()
    history = minimise(loss, {"w": w}, [0], n_steps=1000, patience=100, monitor=lambda: 1.0)
    assert history.stopped == "patience" and history.n_steps == 150


def test_on_step_sees_every_step_and_may_stop():
    steps = []
    w, loss = _quadratic()
    history = minimise(
        loss,
        {"w": w},
        [None],
        n_steps=100,
        on_step=lambda step, terms: steps.append((step, *terms)) or step == 6,
    )
    assert steps == [(step, "fit") for step in range(7)]
    assert history.stopped == "on_step" and history.n_steps == 7


@pytest.mark.parametrize(("value", "step"), [(math.nan, 0), (math.inf, 3), (-math.inf, 49), (math.nan, 50)])
@pytest.mark.parametrize("every", [1, 7, 1000])
def test_a_term_that_is_not_finite_is_named_and_never_saved(tmp_path, value, step, every):
    w, calls = torch.ones(2, requires_grad=True), iter(range(10**6))

    def loss(batch):
        return {"fit": (w**2).sum(), "size": w.abs().sum() * (value if next(calls) == step else 1.0)}

    with pytest.raises(
        FloatingPointError, match=rf"term `size` must stay finite, got {value} at step {step}\. "
    ) as e:
        minimise(loss, {"w": w}, [None], n_steps=100, checkpoint=tmp_path, checkpoint_every=every)
    assert "Try a smaller `lr`" in str(e.value)
    last_good = step // every * every
    if last_good == 0:
        assert "No checkpoint had been written" in str(e.value) and not any(tmp_path.iterdir())
        return
    assert f"The last good checkpoint, of {last_good} steps, is in {str(tmp_path)!r}" in str(e.value)
    clean = torch.ones(2, requires_grad=True)
    minimise(
        lambda _: {"fit": (clean**2).sum(), "size": clean.abs().sum()},
        {"w": clean},
        [None],
        n_steps=last_good,
    )
    assert torch.equal(read_parameters(tmp_path)["w"], clean)


def test_a_parameter_that_is_not_finite_is_never_saved(tmp_path):
    w = torch.zeros(1, requires_grad=True)  # the square root is 0 there, its gradient infinite times 0
    with pytest.raises(FloatingPointError, match="parameter `w` must stay finite, got nan at step 0"):
        minimise(lambda _: {"root": (w**2).sqrt().sum()}, {"w": w}, [0], n_steps=1, checkpoint=tmp_path)
    assert not any(tmp_path.iterdir())


def test_bf16_computes_in_bf16_and_keeps_float32_parameters():
    layer, seen = nn.Linear(4, 4), []

    def loss(batch):
        y = layer(batch)
        seen.append(y.dtype)
        return {"fit": (y.float() ** 2).mean()}

    history = minimise(loss, layer, [torch.randn(64, 4)], n_steps=50, lr=0.05, precision="bf16")
    assert set(seen) == {torch.bfloat16} and layer.weight.dtype == torch.float32
    assert history.objective[-1] < 0.1 * history.objective[0]


def test_scaled_gradients_give_the_same_steps_and_skip_an_overflow():
    """The arithmetic of half precision's gradient scaler, which runs on any device."""

    def run(scaler):
        w, rows = torch.ones(2, requires_grad=True), []
        loss = lambda power: {"fit": (w * 10.0**power).sum() ** 2}  # noqa: E731
        player = Player(loss=loss, parameters={"w": w}, lr=0.1, clip_norm=0.5)
        mover = Mover(player, 4, loss, alone=True, static=False)
        mover.scaler = scaler
        for power in [0, 0, 17, 0]:  # 10^34 overflows once it is scaled
            mover.descend(power)
            rows.append(w.tolist())
        return rows

    plain = run(None)
    scaled = run(torch.amp.GradScaler("cpu", init_scale=2.0**16))
    assert scaled[:2] == plain[:2]
    assert scaled[2] == scaled[1] and scaled[3] != scaled[2]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.gpu
@pytest.mark.parametrize("precision", [None, "bf16", "fp16"])
def test_mixed_precision_on_cuda_resumes_to_the_bit(tmp_path, precision):
    def run(folder, stop=None):
        w = torch.full((4, 4), 0.5, device="cuda", requires_grad=True)
        generator = torch.Generator("cuda").manual_seed(0)
        batches = Minibatches(torch.ones(64, 4, device="cuda"), batch_size=8, generator=generator, noise=4)
        return w, minimise(
            lambda batch: {"fit": ((batch[0] @ w - batch[1]) ** 2).mean()}, {"w": w}, batches, n_steps=120,
            precision=precision, clip_norm=1.0, checkpoint=folder, checkpoint_every=30,
            on_step=lambda step, terms: (_ for _ in ()).throw(RuntimeError) if step == stop else None,
        )  # fmt: skip

    whole, history = run(tmp_path / "whole")
    with pytest.raises(RuntimeError):
        run(tmp_path / "parts", stop=70)
    again, resumed = run(tmp_path / "parts")
    assert torch.equal(whole, again) and history.terms == resumed.terms
    assert history.objective[-1] < history.objective[0]


def test_bad_arguments_say_what_to_do():
    w, loss = _quadratic()
    run = {"parameters": {"w": w}, "batches": [None], "n_steps": 2}
    with pytest.raises(ValueError, match="`n_steps` must be at least 1, got 0"):
        minimise(loss, **run | {"n_steps": 0})
    with pytest.raises(ValueError, match="`checkpoint_every` must be at least 1, got 0"):
        minimise(loss, **run, checkpoint_every=0)
    with pytest.raises(ValueError, match="`precision` must be None, 'bf16' or 'fp16', got 'fp8'"):
        minimise(loss, **run, precision="fp8")
    with pytest.raises(ValueError, match="`precision` must be None or 'bf16' on cpu, got 'fp16'"):
        minimise(loss, **run, precision="fp16")
    with pytest.raises(ValueError, match=r"`weights` must name terms among \['fit'\], got \['fot'\]"):
        minimise(loss, **run, weights={"fot": 1.0})
    with pytest.raises(TypeError, match="`loss` must return a dict of terms, got Tensor"):
        minimise(lambda _: (w**2).sum(), **run)
    with pytest.raises(TypeError, match=r"`loss` must return scalar tensors, got shape \(2,\) for 'fit'"):
        minimise(lambda _: {"fit": w**2}, **run)
    with pytest.raises(TypeError, match="`loss` must return scalar tensors, got float for 'fit'"):
        minimise(lambda _: {"fit": 0.0}, **run)


def test_terms_may_not_change_their_names():
    w, names = torch.ones(1, requires_grad=True), iter("aab")
    with pytest.raises(ValueError, match=r"same terms at every step, got \('b',\) after \('a',\)"):
        minimise(lambda _: {next(names): (w**2).sum()}, {"w": w}, [0], n_steps=5)


def test_rows_are_copies():
    w = torch.ones(1, requires_grad=True)
    history = minimise(lambda _: {"first": w[0]}, {"w": w}, [0], n_steps=1, lr=0.5)
    assert history.terms == {"first": [1.0]} and w.item() == pytest.approx(0.5)


def test_an_unknown_setting_is_named_beside_the_known_ones():
    w, loss = _quadratic()
    with pytest.raises(
        TypeError, match=r"settings must be among \['lr', .*'n_steps', .*got \['learning_rate'\]"
    ):
        minimise(loss, {"w": w}, [0], n_steps=5, learning_rate=0.1)
    with pytest.raises(TypeError, match=r"got \['weights'\]"):
        minimise_constrained(loss, "fit", {"w": w}, [0], epsilon=1.0, n_steps=5, weights={"fit": 2.0})


def test_the_settings_by_name_are_the_fields_of_player_and_run():
    own = {"loss", "parameters", "name"}
    known = {field.name for kind in (Player, Run) for field in fields(kind)} - own
    assert set(Settings.__annotations__) == known


def test_ctrl_c_without_a_checkpoint_says_that_nothing_is_saved():
    w, loss = _quadratic()

    def press(step, terms):
        if step == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as stop:
        minimise(loss, {"w": w}, [None], n_steps=10, on_step=press)
    line = str(stop.value)
    assert line.startswith("Interrupted after 3 of 10 steps. Nothing was saved: give a `checkpoint` folder")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_interrupts_at_once():
    w, reached = torch.ones(1, requires_grad=True), []

    def impatient(batch):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        reached.append(True)
        return {"fit": (w**2).sum()}

    with pytest.raises(KeyboardInterrupt):
        minimise(impatient, {"w": w}, [None], n_steps=10)
    assert not reached


def test_a_program_that_handles_ctrl_c_itself_is_left_alone():
    presses, before = [], signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, lambda *_: presses.append(True))
    try:
        w, loss = _quadratic()
        press = lambda step, terms: os.kill(os.getpid(), signal.SIGINT) if step == 1 else None  # noqa: E731
        assert minimise(loss, {"w": w}, [None], n_steps=4, on_step=press).n_steps == 4
    finally:
        signal.signal(signal.SIGINT, before)
    assert presses == [True]


def test_it_runs_in_a_thread():
    (w, loss), histories = _quadratic(), []
    thread = threading.Thread(target=lambda: histories.append(minimise(loss, {"w": w}, [None], n_steps=3)))
    thread.start()
    thread.join()
    assert histories[0].n_steps == 3


def test_the_bar_shows_the_terms_and_silence_is_the_default(capsys, monkeypatch):
    w, loss = _quadratic()
    minimise(loss, {"w": w}, [None], n_steps=50)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setenv("COLUMNS", "80")
    minimise(loss, {"w": w}, [None], n_steps=50, progress=True, description="square")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "square" in shown.err and "100%" in shown.err and "fit 1." in shown.err
