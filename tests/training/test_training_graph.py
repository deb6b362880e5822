"""Steps on static buffers. On the CPU a stand-in for the recording does the recorded work again."""

import itertools

import pytest
import torch
from torch import nn

from unmix.training import Minibatches, Player, Run, _graph, minimise, minimise_constrained, play, warm_up


class StandIn:
    """What CUDA does, on the CPU: recording does nothing yet, replaying does the work on the same memory."""

    replays = 0

    def __init__(self, device, generators):
        pass

    def warm_up(self, work):
        work()
        return False

    def record(self, work):
        movers = [mover for mover in work.__self__.moving if mover.values is not None]
        outputs = [torch.full_like(mover.values, torch.nan) for mover in movers]
        for mover, values in zip(movers, outputs, strict=True):
            mover.values = values

        def replay():
            StandIn.replays += 1
            before = [mover.values for mover in movers]
            work()
            for mover, values, old in zip(movers, outputs, before, strict=True):
                values.copy_(mover.values)
                mover.values = old  # no line of Python runs in a replay

        return replay


@pytest.fixture
def recording(monkeypatch):
    monkeypatch.setitem(_graph.RECORDERS, "cpu", StandIn)
    monkeypatch.setattr(StandIn, "replays", 0)


DEVICES = ["cpu", pytest.param("cuda", marks=[pytest.mark.gpu, pytest.mark.skipif(
    not torch.cuda.is_available(), reason="needs CUDA")])]  # fmt: skip
ALL = {
    "schedule": "cosine", "weights": {"size": warm_up(0.5, 30)}, "clip_norm": 0.5, "weight_decay": 0.1,
    "ema": 0.9,
}  # fmt: skip
GAMES = ["plain", "all", "bf16", "constrained", "adversaries"]


def _networks(device):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        one = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3))
        other = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    return nn.ModuleDict({"one": one, "other": other}).to(device)


def _train(game, device, folder=None, interrupt=None, **options):
    modules, own = _networks(device), torch.Generator(device).manual_seed(5)
    x = torch.randn(50, 3, generator=torch.Generator().manual_seed(2)).to(device)
    batches = Minibatches(x, batch_size=16, generator=torch.Generator().manual_seed(1), noise=1)

    def loss(batch):
        x, noise = batch
        x_hat = modules["one"](x) + 0.1 * noise * torch.randn(x.shape, generator=own, device=device)
        return {"fit": ((x - x_hat).float() ** 2).mean(), "size": x_hat.float().abs().mean()}

    def judge(batch):
        critic, made = modules["other"], modules["one"](batch[0])
        return {"gap": (critic(made).mean() - critic(batch[0]).mean()) + made.square().mean()}

    def stop(step, terms):
        if step == interrupt:
            raise RuntimeError("stopped by the test")

    common = {
        "n_steps": 40,
        "checkpoint": folder,
        "checkpoint_every": 7,
        "on_step": stop,
        "generators": [own],
    }
    common |= options
    if game == "constrained":
        history = minimise_constrained(loss, "size", modules["one"], batches, epsilon=0.3, **common)
    elif game == "adversaries":
        players = [
            Player(name="one", loss=judge, parameters=modules["one"], every=3, ema=0.9),
            Player(name="other", loss=judge, parameters=modules["other"], maximise=True),
        ]
        history = play(players, batches, Run(**common))
    else:
        extra = {"plain": {}, "all": ALL, "bf16": {"precision": "bf16"}}[game]
        history = minimise(loss, modules["one"], batches, lr=0.01, **extra, **common)
    return [tensor.clone().cpu() for tensor in modules.state_dict().values()], history


@pytest.mark.parametrize("game", GAMES)
def test_recorded_steps_give_the_bits_of_plain_ones(recording, game):
    plain, history = _train(game, "cpu", graph=False)
    assert StandIn.replays == 0
    recorded, again = _train(game, "cpu", graph=True)
    assert again.terms == history.terms and again.extras == history.extras
    assert all(map(torch.equal, plain, recorded))
    assert StandIn.replays == (
        34 if game == "adversaries" else 37
    )  # two kinds of step, three plain ones each


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("interrupt", [2, 16, 38])
def test_recorded_runs_resume_to_the_bit(recording, tmp_path, game, interrupt):
    whole, history = _train(game, "cpu", graph=True)
    with pytest.raises(RuntimeError):
        _train(game, "cpu", tmp_path, interrupt, graph=True)
    resumed, again = _train(game, "cpu", tmp_path, graph=True)
    assert again.terms == history.terms and all(map(torch.equal, whole, resumed))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.parametrize("game", GAMES)
def test_graphs_on_cuda_agree_with_plain_steps_and_resume(tmp_path, game):
    plain, history = _train(game, "cuda", graph=False)
    whole, again = _train(game, "cuda", graph=True)  # a warning that nothing was recorded would be an error
    for name, series in history.terms.items():
        assert again.terms[name] == pytest.approx(series, rel=1e-3, abs=1e-5)
    assert all(torch.allclose(a, b, rtol=1e-2, atol=1e-4) for a, b in zip(plain, whole, strict=True))
    with pytest.raises(RuntimeError):
        _train(game, "cuda", tmp_path, 16, graph=True)
    resumed, third = _train(game, "cuda", tmp_path, graph=True)
    assert third.terms == again.terms and all(map(torch.equal, whole, resumed))


def _obstacle(loss, batches, device, match, n_steps=8):
    w = torch.ones(2, device=device, requires_grad=True)
    with pytest.warns(UserWarning, match=match):
        history = minimise(lambda batch: loss(w, batch), {"w": w}, batches, n_steps=n_steps, graph=True)
    assert history.n_steps == n_steps
    return history


@pytest.mark.parametrize("device", DEVICES)
def test_what_happens_on_the_host_is_not_recorded(recording, device):
    x, count = torch.ones(2, device=device), itertools.count()
    with torch.random.fork_rng():
        _obstacle(
            lambda w, x: {"f": (w * x * torch.rand(1).item()).sum()}, [x], device, "random numbers|waits for"
        )
    history = _obstacle(lambda w, x: {"f": (w * x).sum() + next(count)}, [x], device, "gives other numbers")
    assert len({round(value) for value in history.terms["f"]}) == 8


@pytest.mark.parametrize("device", DEVICES)
def test_the_default_is_quiet_where_nothing_can_be_recorded(recording, device):
    x, count, w = torch.ones(2, device=device), itertools.count(), torch.ones(2, device=device)
    w.requires_grad_()
    loss = lambda x: {"f": (w * x).sum() + next(count)}  # noqa: E731
    assert minimise(loss, {"w": w}, [x], n_steps=200).n_steps == 200
    assert minimise(lambda _: {"f": w.sum()}, {"w": w}, [None], n_steps=200).n_steps == 200


def test_a_batch_that_is_no_tensor_is_named(recording):
    _obstacle(lambda w, x: {"f": w.sum()}, [None], "cpu", "a batch must be tensors")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_a_host_that_waits_is_noticed_on_cuda():
    x = torch.ones(2, device="cuda")
    loss = lambda w, x: {"f": (w * x).sum() * (1.0 if (w * x).sum().item() > 0 else 2.0)}  # noqa: E731
    _obstacle(loss, [x], "cuda", "waits for a result")
    assert torch.rand(3, device="cuda").isfinite().all()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_random_draws_go_on_after_a_recording_that_failed():
    recorder = _graph.CudaRecorder(torch.device("cuda"))
    with pytest.raises(RuntimeError):
        recorder.record(lambda: torch.rand(4, device="cuda").sum().item())
    first = torch.cuda.get_rng_state()
    a = torch.rand(3, device="cuda")
    torch.cuda.set_rng_state(first)
    assert torch.equal(a, torch.rand(3, device="cuda"))


def test_a_recording_that_fails_leaves_the_numbers_as_they_are(recording, monkeypatch):
    def fail(self, work):
        work()  # as far as it went
        raise RuntimeError("operation not permitted when stream is capturing")

    plain, history = _train("all", "cpu", graph=False)
    monkeypatch.setattr(StandIn, "record", fail)
    with pytest.warns(UserWarning, match="can't be recorded .operation not permitted"):
        again, recorded = _train("all", "cpu", graph=True)
    assert recorded.terms == history.terms and all(map(torch.equal, plain, again))


@pytest.mark.parametrize("device", DEVICES)
def test_batches_of_other_shapes_are_taken_plainly(recording, device):
    def run(graph):
        w = torch.ones(2, device=device, requires_grad=True)
        batches = [torch.ones(4, 2, device=device)] * 9 + [torch.full((3, 2), 2.0, device=device)]
        loss = lambda x: {"f": ((w * x - 3) ** 2).mean()}  # noqa: E731
        return minimise(loss, {"w": w}, batches, n_steps=30, lr=0.1, graph=graph).terms["f"], w.tolist()

    (series, w), (expected, w_plain) = run(True), run(False)
    assert series == pytest.approx(expected, rel=1e-5) and w == pytest.approx(w_plain, rel=1e-5)


def test_replaced_buffers_are_not_recorded(recording):
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(2))
            self.register_buffer("seen", torch.zeros(2))

        def forward(self):
            self.seen = self.seen + self.w.detach()
            return (self.w * self.seen).sum()

    module = Counting()
    with pytest.warns(UserWarning, match="new tensors in the place of buffers"):
        minimise(lambda _: {"f": module()}, module, [torch.ones(1)], n_steps=5, graph=True)
    assert StandIn.replays == 0


def test_without_cuda_a_graph_is_refused_aloud_and_left_out_quietly():
    w = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="not recorded as a CUDA graph: it needs CUDA"):
        minimise(lambda x: {"f": (w * x).sum()}, {"w": w}, [torch.ones(2)], n_steps=2, graph=True)
    minimise(lambda x: {"f": (w * x).sum()}, {"w": w}, [torch.ones(2)], n_steps=300)


def test_a_loss_that_cannot_be_compiled_is_called_as_it_is(monkeypatch):
    def broken(loss, dynamic):
        def call(batch):
            raise ImportError("no compiler here")

        return call

    monkeypatch.setattr(torch, "compile", broken)
    w = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="not compiled .ImportError: no compiler here"):
        history = minimise(lambda x: {"f": (w * x).sum()}, {"w": w}, [torch.ones(2)], n_steps=3, compile=True)
    assert history.terms["f"][0] == 2.0 and history.n_steps == 3


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch, by its own compiler
@pytest.mark.filterwarnings("ignore:TensorFloat32 tensor cores:UserWarning")  # its compiler's advice
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.parametrize("graph", [False, True])
def test_compiled_steps_agree_on_cuda(graph):
    _, history = _train("adversaries", "cuda", graph=False, compile=False)
    _, again = _train("adversaries", "cuda", graph=graph, compile=True)
    for name, series in history.terms.items():
        assert again.terms[name] == pytest.approx(series, rel=1e-2, abs=1e-4)
