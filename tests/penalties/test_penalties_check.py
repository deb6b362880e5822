from functools import partial

import pytest
import torch

from unmix.nn import jacobian, mlp
from unmix.penalties import (
    check_penalty,
    compositional_contrast,
    dependency_sparsity,
    hessian_penalty,
    ima_contrast,
    latent_sparsity,
    orojar,
)

OURS = {
    "l1": dependency_sparsity,
    "group": partial(dependency_sparsity, form="group"),
    "log": partial(dependency_sparsity, form="log"),
    "normalised": partial(dependency_sparsity, normalize="std"),
    "columns": partial(dependency_sparsity, columns=2),
    "differences": partial(dependency_sparsity, step=0.1),
    "latent": latent_sparsity,
    "orojar": orojar,
    "orojar sampled": partial(orojar, exact=False),
    "hessian": hessian_penalty,
    "hessian sampled": partial(hessian_penalty, exact=False, n_vectors=3),
    "compositional": partial(compositional_contrast, slots=2),
    "ima": ima_contrast,
}

WRONG = {
    "shape": (lambda decoder, z: decoder(z).sum(1), r"must be a scalar tensor, got shape \(6,\)"),
    "float": (lambda decoder, z: 1.0, "must be a scalar tensor, got float"),
    "nan": (lambda decoder, z: decoder(z).mean().abs().neg().log(), "the value is nan: guard"),
    "sum": (lambda decoder, z: decoder(z).square().sum(), "take the mean over the batch"),
    "detached": (lambda decoder, z: decoder(z).square().mean().detach(), "has no gradient"),
    "half detached": (
        lambda decoder, z: (decoder(z) * decoder(z).detach()).sum(1).mean(),
        "check for detached parts",
    ),
}


@pytest.mark.parametrize("name", OURS)
def test_our_penalties_pass(name):
    report = check_penalty(OURS[name])
    assert report, str(report)
    assert str(report).startswith("holds")


@pytest.mark.parametrize("name", WRONG)
def test_each_mistake_is_named(name):
    penalty, message = WRONG[name]
    report = check_penalty(penalty)
    assert not report
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(str(report))


def test_a_penalty_with_its_own_generator_is_told_to_leave_it_out():
    g = torch.Generator().manual_seed(0)
    report = check_penalty(partial(dependency_sparsity, columns=1, generator=g))
    assert not report and "leave `generator` unset" in str(report)


def test_own_decoder_and_codes_are_used_and_left_alone():
    decoder, z = mlp(2, 3), torch.ones(5, 2)
    before = {name: p.clone() for name, p in decoder.named_parameters()}
    seen = []

    def penalty(decoder, z):
        seen.append((z.shape[1], z.dtype))
        return jacobian(decoder, z).abs().sum() / len(z)

    state = torch.get_rng_state()
    assert check_penalty(penalty, decoder, z)
    assert set(seen) == {(2, torch.float64)}
    assert all(torch.equal(before[name], p) and p.grad is None for name, p in decoder.named_parameters())
    assert decoder[0].weight.dtype == torch.float32 and torch.equal(torch.get_rng_state(), state)


def test_not_a_function_is_a_type_error():
    with pytest.raises(TypeError, match=r"`penalty` must be callable|type-check|Type-check"):
        check_penalty("l1")
