"""Adversaries, averages and settings of games of several players."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from unmix.training import Average, Minibatches, Player, Run, minimise, play, read_parameters


def _adversaries(folder=None, n_steps=600, interrupt=None, every=2, **options):
    """A generator of numbers from noise, and a critic that tells them from N(3, 0.5^2)."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        generator = nn.Sequential(nn.Linear(1, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))
        critic = nn.Sequential(nn.Linear(1, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    x = 3 + 0.5 * torch.randn(512, 1, generator=torch.Generator().manual_seed(1))
    batches = Minibatches(x, batch_size=64, generator=torch.Generator().manual_seed(2), noise=1)
    average = Average(0.98)
    softplus = nn.functional.softplus

    def judge(batch):
        real, noise = batch
        return {"real": softplus(-critic(real)).mean(), "fake": softplus(critic(generator(noise))).mean()}

    def stop(step, terms):
        if step == interrupt:
            raise RuntimeError("stopped by the test")

    players = [
        Player(name="critic", loss=judge, parameters=critic, lr=5e-3, betas=(0.5, 0.9), weight_decay=1e-3),
        Player(
            name="generator",
            loss=lambda batch: {"fool": softplus(-critic(generator(batch[1]))).mean()},
            parameters=generator,
            lr=5e-3,
            betas=(0.5, 0.9),
            every=every,
            ema=average,
        ),
    ]
    run = Run(n_steps=n_steps, checkpoint=folder, checkpoint_every=7, on_step=stop, **options)
    return generator, critic, play(players, batches, run), average


def _state(*modules):
    return [tensor.clone() for module in modules for tensor in module.state_dict().values()]


def test_adversaries_learn_a_distribution():
    generator, _, history, _ = _adversaries(n_steps=1500)
    noise = torch.randn(4000, 1, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        made = generator.eval()(noise)
    assert made.mean().item() == pytest.approx(3, abs=0.3)
    assert 0.2 < made.std().item() < 1.0
    assert list(history.terms) == ["critic/real", "critic/fake", "generator/fool"]


def test_a_resting_player_stays_and_repeats_its_terms():
    moved = []
    _, _, history, _ = _adversaries(n_steps=9, every=4)
    fool = history.terms["generator/fool"]
    assert fool[0] == fool[3] and fool[4] == fool[7] and len({fool[0], fool[4], fool[8]}) == 3
    assert len(set(history.terms["critic/real"])) == 9
    x = torch.ones(1, requires_grad=True)
    resting = Player(name="slow", loss=lambda _: {"x": x.sum()}, parameters={"x": x}, lr=0.1, every=3)
    y = torch.ones(1, requires_grad=True)
    quick = Player(name="quick", loss=lambda _: {"y": y.sum()}, parameters={"y": y}, lr=0.1)
    run = Run(n_steps=6, on_step=lambda step, terms: moved.append((x.item(), y.item())))
    play([resting, quick], [0], run)
    assert [round(10 - 10 * a) for a, _ in moved] == [1, 1, 1, 2, 2, 2]
    assert [round(10 - 10 * b) for _, b in moved] == [1, 2, 3, 4, 5, 6]


def test_a_gradient_reaches_only_its_own_player():
    a, b = (torch.ones(1, requires_grad=True) for _ in range(2))
    players = [
        Player(name="a", loss=lambda _: {"f": (a * b).sum()}, parameters={"a": a}, lr=0.1),
        Player(name="b", loss=lambda _: {"f": (5 * a * b).sum()}, parameters={"b": b}, lr=0.1, maximise=True),
    ]
    play(players, [0], Run(n_steps=1))
    assert a.item() == pytest.approx(0.9) and a.grad.item() == 1.0
    assert b.item() == pytest.approx(1.1) and b.grad.item() == pytest.approx(4.5)  # after a has moved


@pytest.mark.parametrize("interrupt", [3, 8, 22])
def test_adversaries_resume_to_the_bit(tmp_path, interrupt):
    generator, critic, history, _ = _adversaries(n_steps=40, every=3)
    with pytest.raises(RuntimeError):
        _adversaries(tmp_path, n_steps=40, every=3, interrupt=interrupt)
    again, other, resumed, _ = _adversaries(tmp_path, n_steps=40, every=3)
    assert resumed.terms == history.terms
    assert all(map(torch.equal, _state(generator, critic), _state(again, other)))
    assert {"critic/0.weight", "generator/1.running_mean"} <= set(read_parameters(tmp_path))
    finished, _, once_more, _ = _adversaries(tmp_path, n_steps=40, every=3)
    assert once_more.terms == history.terms and all(map(torch.equal, _state(finished), _state(generator)))


def test_another_game_is_not_resumed(tmp_path):
    _adversaries(tmp_path, n_steps=10)
    with pytest.raises(ValueError, match=r"`checkpoint` must come from the same run.*generator/every=2"):
        _adversaries(tmp_path, n_steps=10, every=3)


def test_a_checkpoint_of_an_older_version_is_refused(tmp_path):
    from unmix.training import _checkpoint

    w = torch.ones(1, requires_grad=True)
    options = {"n_steps": 3, "checkpoint": tmp_path}
    minimise(lambda _: {"w": w.sum()}, {"w": w}, [0], **options)
    state, config = _checkpoint.read(tmp_path)
    _checkpoint.write(tmp_path, {"model": state["players"][""]["model"]}, config | {"format": None})
    with pytest.raises(ValueError, match="made with format=None, while this run has format=2"):
        minimise(lambda _: {"w": w.sum()}, {"w": w}, [0], **options)


def test_checkpoints_are_also_written_by_time(tmp_path):
    w, seen = torch.ones(1, requires_grad=True), []

    def look(step, terms):
        seen.append((tmp_path / "checkpoint.safetensors").exists())

    options = {"n_steps": 4, "checkpoint": tmp_path, "on_step": look}
    minimise(lambda _: {"w": w.sum()}, {"w": w}, [0], **options, checkpoint_seconds=0.0)
    assert seen == [False, True, True, True]
    (tmp_path / "checkpoint.safetensors").unlink()
    minimise(lambda _: {"w": w.sum()}, {"w": w}, [0], **options, checkpoint_seconds=1e6)
    assert not any(seen[4:])


def test_averages_cover_buffers_and_can_be_looked_at_during_a_run():
    norm, average, means, inside = nn.BatchNorm1d(2), Average(0.8), [], []
    norm.register_buffer("mask", torch.tensor([0.0, -torch.inf]))

    def look(step, terms):
        raw = norm.running_mean.clone()
        means.append(raw.double())
        with average.swapped():
            inside.append((norm.running_mean.clone(), norm.num_batches_tracked.item()))
        assert torch.equal(raw, norm.running_mean)

    x = torch.randn(30, 2, generator=torch.Generator().manual_seed(0))
    batches = [(x[:10],), (x[10:20] + 1,), (x[20:] - 2,)]
    minimise(
        lambda batch: {"fit": norm(batch[0]).square().mean()},
        norm,
        batches,
        n_steps=9,
        ema=average,
        on_step=look,
    )
    for step, (mean, count) in enumerate(inside):
        weights = torch.tensor([0.8 ** (step - s) for s in range(step + 1)], dtype=torch.float64)
        oracle = (weights[:, None] * torch.stack(means[: step + 1])).sum(0) / weights.sum()
        assert torch.allclose(mean.double(), oracle, atol=1e-6) and count == step + 1
    assert torch.equal(norm.running_mean, inside[-1][0]) and norm.mask.tolist() == [0.0, -torch.inf]


def test_an_average_without_a_run_says_what_to_do():
    with pytest.raises(ValueError, match="`Average` must be used by a run first"), Average(0.9).swapped():
        pass


def test_a_buffer_that_is_replaced_is_saved_as_it_is_now(tmp_path):
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(2))
            self.register_buffer("seen", torch.zeros(2))

        def forward(self):
            self.seen = self.seen + self.w.detach()
            return (self.w * self.seen).sum()

    def run(folder, stop=None):
        module = Counting()

        def on_step(step, terms):
            if step == stop:
                raise RuntimeError

        options = {"checkpoint": folder, "checkpoint_every": 4, "on_step": on_step}
        return module, minimise(lambda _: {"f": module()}, module, [0], n_steps=12, lr=0.01, **options)

    whole, history = run(None)
    with pytest.raises(RuntimeError):
        run(tmp_path, stop=9)
    again, resumed = run(tmp_path)
    assert resumed.terms == history.terms and torch.equal(whole.seen, again.seen)


def test_bad_games_say_what_to_do():
    w = torch.ones(1, requires_grad=True)
    player = Player(loss=lambda _: {"w": w.sum()}, parameters={"w": w})
    for players in ([], [player, player]):
        with pytest.raises(ValueError, match="`players` must have different names"):
            play(players, [0], Run(n_steps=1))
    average = Average(0.9)
    twins = [Player(name=name, loss=player.loss, parameters={"w": w}, ema=average) for name in "ab"]
    with pytest.raises(ValueError, match="`players` must have an average each"):
        play(twins, [0], Run(n_steps=1))
    with pytest.raises(ValueError, match="`graph` must be 'auto', True or False, got 'yes'"):
        Run.__post_init__(SimpleNamespace(n_steps=1, checkpoint_every=1, max_rows=1, graph="yes"))
    with pytest.raises(ValueError, match="`every` must be at least 1, got 0"):
        Player(loss=player.loss, parameters={"w": w}, every=0)
    slow = Player(loss=player.loss, parameters={"w": w}, every=2)
    with pytest.raises(ValueError, match="`look_ahead` must have players that move at every step"):
        play([slow], [0], Run(n_steps=1), look_ahead=True)
