"""Decoders that add up the parts of slots."""

from functools import partial

import torch

from unmix.nn import mlp
from unmix.objectives._slot import AdditiveDecoder


def test_an_additive_decoder_is_the_sum_of_its_parts():
    decoder = AdditiveDecoder(partial(mlp, hidden=(4,)), [[0, 2], [1]], 3)
    z = torch.randn(5, 3)
    assert torch.allclose(decoder(z), decoder.parts[0](z[:, [0, 2]]) + decoder.parts[1](z[:, [1]]))
