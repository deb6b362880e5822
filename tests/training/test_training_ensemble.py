"""Members trained together: apart, extracted, scored, and their rate of learning."""

from itertools import pairwise

import pytest
import torch
from torch import nn

from unmix.nn import residual_mlp
from unmix.objectives._vae import Objective
from unmix.training import Minibatches, Pace
from unmix.training._ensemble import Ensemble, learning_rate
from unmix.training._restarts import Noise, rounds, train_restarts


def objectives(n_members, factory=residual_mlp):
    torch.manual_seed(1)
    return [Objective(factory(4, 4), factory(2, 4), 2, variational=True) for _ in range(n_members)]


def trained(members, x):
    ensemble = Ensemble(members, {"kl": 0.01})
    batches = Minibatches(x, batch_size=50, generator=torch.Generator().manual_seed(0), noise=2)
    ensemble.train(lambda: batches, 0, 30, 30, Pace(1, 50, 1e-2, 0, progress=False), "round-0")
    return ensemble


def test_members_trained_together_do_not_touch_each_other():
    x, members = torch.randn(200, 4), objectives(4)
    one, other = trained(members[:3], x), trained([*members[:2], members[3]], x)
    for name, parameter in one.parameters.items():
        assert torch.equal(parameter[:2], other.parameters[name][:2]), name
        assert parameter.ndim == 0 or not torch.equal(parameter[2], members[2].get_parameter(name)), name


def test_extracting_a_member_gives_its_own_function():
    ensemble, x = Ensemble(objectives(3), {}), torch.randn(5, 4)
    for number, codes in enumerate(ensemble.each(Objective.encode, x)):
        assert torch.allclose(ensemble.extract(number).encode(x), codes, atol=1e-6)


def test_scores_are_the_weighted_terms_and_breakdown_counts_as_infinite():
    ensemble = Ensemble(objectives(2), {"kl": 0.5})
    x, noise = torch.randn(20, 4), torch.randn(20, 2)
    terms = ensemble.terms((x, noise))
    assert torch.allclose(ensemble.scores((x, noise), 0), terms["reconstruction"] + 0.5 * terms["kl"])
    with torch.no_grad():
        ensemble.parameters["decoder.linear.bias"][1] = float("nan")
    assert ensemble.scores((x, noise), 0)[1] == float("inf")


def test_rounds_cover_every_step_once_and_never_grow():
    for n_steps in (1, 2, 7, 1000):
        parts = rounds(n_steps, 8)
        assert parts[0][0] == 0 and parts[-1][1] == n_steps
        assert all(a[1] == b[0] and a[2] >= b[2] for a, b in pairwise(parts))


def test_the_learning_rate_goes_on_over_rounds():
    whole = [learning_rate(step, 0, 1000) for step in range(300, 1000)]
    rest = [learning_rate(step - 300, 300, 1000) for step in range(400, 1000)]
    assert whole[100:] == pytest.approx(rest)


class Level(nn.Module):
    """Costs the square of its only parameter, whatever the data are."""

    def __init__(self, level):
        super().__init__()
        self.level = nn.Parameter(torch.tensor([level]))

    def forward(self, x, noise):
        return {"cost": self.level.square().sum()}


@pytest.mark.parametrize("best", range(3))
def test_the_kept_restart_has_the_lowest_objective(best):
    members = [Level(0.1 if number == best else 3.0 + number) for number in range(3)]
    pace = Pace(2, 20, 1e-4, 0, progress=False)
    found = train_restarts(members, {}, torch.randn(40, 2), pace, beside=Noise(1))
    assert (
        min(found.scores) == found.scores[best] == pytest.approx(found.objective.level.item() ** 2, rel=1e-3)
    )
    assert found.objective.level.item() == pytest.approx(0.1, abs=0.01)
