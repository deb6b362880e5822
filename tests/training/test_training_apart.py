"""Members trained one after another: what stops one leaves the others alone."""

import math

import pytest
import torch
from torch import nn

from unmix.training import Drawn, Minibatches, Noise, Pace, Player, minimise, train_apart
from unmix.training._adam import Adam
from unmix.training._ensemble import Separate, on_matrices, on_weights
from unmix.training._sources import Held


class Member(nn.Module):
    """Learns a number; from a step on one of its terms is no number."""

    def __init__(self, start, bad_after=math.inf):
        super().__init__()
        self.number = nn.Parameter(torch.tensor(start))
        self.calls, self.bad_after = 0, bad_after

    def forward(self, x, noise):
        self.calls += self.training
        away = (self.number - x.mean()).square()
        return {"away": away, "size": away * (math.nan if self.calls > self.bad_after else 0.0)}


PACE = Pace(max_iter=40, batch_size=10, lr=0.1, seed=0)
X = torch.ones(20, 1)


def test_the_member_with_the_lowest_objective_is_kept():
    found = train_apart([Member(0.0), Member(9.0)], {}, X, PACE, beside=Noise(1))
    assert found.scores[0] < found.scores[1] and found.objective.number.item() == pytest.approx(1, abs=0.3)
    assert found.history.n_steps == 80 and found.history.objective[-1] < found.history.objective[0]


@pytest.mark.parametrize("bad", [0, 1])
def test_a_member_that_does_not_stay_finite_stops_by_name_and_the_others_go_on(bad):
    members = [Member(0.0, 30 if k == bad else math.inf) for k in range(2)]
    with pytest.warns(RuntimeWarning, match=f"restart {bad + 1} of 2: term `size` must stay finite"):
        found = train_apart(members, {}, X, PACE, beside=Noise(1))
    assert found.scores[bad] == math.inf and math.isfinite(found.scores[1 - bad])
    assert found.objective is members[1 - bad]


def test_when_none_is_left_the_error_names_each():
    with pytest.raises(FloatingPointError, match=r"(?s)restart 1 of 2: .*restart 2 of 2: "):
        train_apart([Member(0.0, 3), Member(0.0, 5)], {}, X, PACE, beside=Noise(1))


def test_members_in_rounds_survive_too():
    together = Separate([Member(0.0), Member(0.0, 5)], {})

    def batches():
        return Noise(1).batches(Held(X), 0, batch_size=10, generator=torch.Generator().manual_seed(0))

    with pytest.warns(RuntimeWarning, match="restart 2 of 2: term `size`"):
        history = together.train(batches, 0, 60, 60, PACE, "round")
    assert len(history.objective) == 60
    scores = together.scores((X, X), 0)
    assert scores[0].isfinite() and scores[1] == math.inf


def test_steps_end_the_passes():
    assert Pace(10, 5, 0.1, 0).steps(20) == 40
    assert Pace(10, 5, 0.1, 0, max_steps=7).steps(20) == 7
    assert Pace(10, 5, 0.1, 0, max_steps=70).steps(20) == 40


def test_weights_decay_and_are_clipped_and_biases_are_not():
    pace = Pace(1, 1, 1.0, 0, weight_decay=0.1, clip_value=2.0)
    names = ["net.0.weight", "net.0.bias", "constant", "norm.scale", "norm.shift", "book.codebook"]
    assert on_weights(names, pace) == {
        "weight_decay": {"net.0.weight": 0.1, "constant": 0.1, "norm.scale": 0.1},
        "clip_value": {"net.0.weight": 2.0, "constant": 2.0, "norm.scale": 2.0},
    }
    assert on_weights(names, Pace(1, 1, 1.0, 0)) == {}


def test_matrices_and_kernels_have_rates_of_their_own():
    shapes = {
        "a.weight": (3, 2),
        "b.weight": (4, 3, 2, 2),
        "c.weight": (1, 3),
        "d.weight": (5,),
        "e.bias": (3, 2),
    }
    tensors = {name: torch.ones(shape) for name, shape in shapes.items()}
    pace = Pace(1, 1, 1.0, 0, matrix_lr=0.02)
    assert on_matrices(tensors, pace) == {"matrix_lr": {"a.weight": 0.02, "b.weight": 0.02}}
    stacked = {name: torch.ones(7, *shape) for name, shape in shapes.items()}
    assert on_matrices(stacked, pace, stacked=True) == on_matrices(tensors, pace)
    assert on_matrices(tensors, Pace(1, 1, 1.0, 0)) == {}


def test_decay_by_name_is_that_of_adamw():
    def tensors():
        return {name: torch.ones(2, requires_grad=True) for name in "ab"}

    own, theirs = tensors(), tensors()
    adam = Adam(own, lr=0.1, weight_decay={"a": 0.5})
    groups = [{"params": [theirs["a"]], "weight_decay": 0.5}, {"params": [theirs["b"]], "weight_decay": 0.0}]
    reference = torch.optim.AdamW(groups, lr=0.1)
    for step in range(5):
        for name in "ab":
            own[name].grad = torch.tensor([1.0, step - 2.0])
            theirs[name].grad = torch.tensor([1.0, step - 2.0])
        adam.step()
        reference.step()
    for name in "ab":
        torch.testing.assert_close(own[name], theirs[name])


def test_entries_of_a_gradient_are_clipped():
    moved = {name: torch.zeros(2, requires_grad=True) for name in "ab"}
    slopes = torch.tensor([5.0, 0.5])
    seen = []

    def loss(batch):
        return {"x": sum((tensor * slopes).sum() for tensor in moved.values())}

    def look():
        seen.append({name: tensor.grad.clone() for name, tensor in moved.items()})

    minimise(loss, moved, [None], n_steps=1, clip_value={"a": 1.0}, project=look)
    torch.testing.assert_close(seen[0]["a"], torch.tensor([1.0, 0.5]))
    torch.testing.assert_close(seen[0]["b"], slopes)


def test_samples_that_are_made_as_they_are_drawn_are_those_that_are_held(tmp_path):
    x = torch.arange(12.0)[:, None]
    drawn = Drawn(12, lambda rows: x[rows])
    settings = {"batch_size": 5, "noise": 2}
    made = drawn.batches(**settings, generator=torch.Generator().manual_seed(0))
    held = Minibatches(x, **settings, generator=torch.Generator().manual_seed(0))
    for _ in range(4):
        a, b = next(made), next(held)
        assert all(torch.equal(p, q) for p, q in zip(a, b, strict=True))
    state = made.state_dict()
    expected = next(made)
    again = drawn.batches(**settings, generator=torch.Generator().manual_seed(3))
    again.load_state_dict(state)
    assert all(torch.equal(p, q) for p, q in zip(next(again), expected, strict=True))
    other = Drawn(12, lambda rows: x[rows] + 1).batches(
        **settings, generator=torch.Generator().manual_seed(0)
    )
    assert other.fingerprint() != made.fingerprint()


def test_several_players_may_train_a_member():
    member = Member(0.0)
    spoiler = nn.Parameter(torch.zeros(()))

    def players(one, settings):
        other = Player(
            name="other", loss=lambda b: {"own": (spoiler - 2).square()}, parameters={"s": spoiler}, lr=0.1
        )
        return [Player(name="member", loss=lambda b: one(*b), parameters=one, **settings), other]

    found = train_apart([member], {}, X, PACE, beside=Noise(1), players=players)
    assert set(found.history.terms) == {"member/away", "member/size", "other/own"}
    assert spoiler.item() == pytest.approx(2, abs=0.2)
