"""Weights that change beside the batches, saved with them."""

import torch

from unmix.training import Minibatches
from unmix.training._beside import Annealed


def test_annealed_batches_go_on_where_they_were_saved():
    def fresh():
        batches = Minibatches(
            torch.arange(10.0)[:, None], batch_size=3, generator=torch.Generator().manual_seed(0)
        )
        return Annealed(batches, lambda step: 1 / (1 + step))

    whole = fresh()
    expected = [next(whole) for _ in range(6)]
    first = fresh()
    for _ in range(4):
        next(first)
    resumed = fresh()
    resumed.load_state_dict(first.state_dict())
    for (x, width), (x_again, width_again) in zip(
        expected[4:], (next(resumed) for _ in range(2)), strict=True
    ):
        assert torch.equal(x, x_again) and width == width_again
