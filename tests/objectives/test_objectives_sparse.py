"""What sparse autoencoders minimise: terms by definition, dense and sparse alike, dead features in turn."""

from dataclasses import replace

import pytest
import torch

from unmix.objectives import SparseCoder, SparseRecipe

D, M = 6, 20


def coder(**settings):
    torch.manual_seed(0)
    made = SparseCoder(D, M, SparseRecipe(k=3, **settings))
    with torch.no_grad():
        made.encoder_bias.normal_()
        made.bias.normal_()
    return made


@pytest.fixture(autouse=True)
def _seeds_are_left_alone():
    with torch.random.fork_rng():
        yield


def batch(seed=1, n=32):
    return torch.randn(n, D, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("activation", ["topk", "batch_topk"])
@pytest.mark.parametrize("prefixes", [(), (5, 20)], ids=str)
def test_dense_and_sparse_codes_give_the_same_terms_gradients_and_memory(activation, prefixes):
    found = []
    for dense in (False, True):
        made = coder(activation=activation, prefixes=prefixes, n_auxiliary=3, dead_after=10.0, dense=dense)
        made.idle[:8] = 100
        terms = made(batch())
        sum(terms.values()).backward()
        found.append((terms, [p.grad for p in made.parameters()], dict(made.named_buffers())))
    torch.testing.assert_close(found[0], found[1])


def test_the_error_is_that_of_the_k_largest_features():
    made, x = coder(activation="topk"), batch()
    a = (x - made.bias) @ made.encoder.T + made.encoder_bias
    least = a.sort(dim=1).values[:, -3:][:, :1]
    codes = torch.where(a >= least, a, 0.0).relu()
    expected = (x - codes @ made.decoder - made.bias).square().mean()
    torch.testing.assert_close(made(x)["reconstruction"], expected)


def test_prefixes_average_the_errors_of_dictionaries_cut_short():
    whole, nested = coder(activation="topk"), coder(activation="topk", prefixes=(5, 20))
    x = batch()
    codes = whole.coded(x)[1]
    few = (x - whole.bias - codes.added(whole.decoder[:5])).square().mean()
    both = (few + whole(x)["reconstruction"]) / 2
    torch.testing.assert_close(nested(x)["reconstruction"], both)


def test_relu_counts_size_and_jumprelu_counts_features():
    x = batch()
    relu = coder(activation="relu")
    codes = relu.coded(x)[1].codes
    torch.testing.assert_close(relu(x)["sparsity"], codes.sum(1).mean() / D**0.5)
    made = coder(activation="jumprelu")
    codes = made.coded(x)[1].codes
    torch.testing.assert_close(made(x)["sparsity"], ((codes > 0).sum(1).float().mean() / 3 - 1) ** 2)


def test_only_dead_features_learn_from_the_auxiliary_term_and_all_of_them_have_a_turn():
    made = coder(activation="topk", n_auxiliary=4, dead_after=50.0)
    made.recipe = replace(made.recipe, k=1)
    with torch.no_grad():
        made.encoder_bias[1] = 100.0  # wins in every row
    dead = torch.zeros(M, dtype=torch.bool)
    dead[[0, 3, 4, 9, 11, 12, 17, 19]] = True
    reached = torch.zeros(M, dtype=torch.bool)
    for step in range(10):
        made.idle.copy_(torch.where(dead, 1000.0, 0.0))
        made.zero_grad()
        made(batch(step))["auxiliary"].backward()
        touched = made.decoder.grad.abs().sum(1) > 0
        assert not (touched & ~dead).any() and touched.sum() <= 4
        reached |= touched
    assert torch.equal(reached, dead)
    made.idle.zero_()
    assert made(batch())["auxiliary"] == 0


def test_a_feature_is_idle_by_the_rows_it_missed():
    made = coder(activation="topk")
    codes = made.coded(batch())[1]
    fired = codes.fired(M) > 0
    torch.testing.assert_close(made.idle, torch.where(fired, 0.0, 32.0))
    assert not fired.all()


def test_the_threshold_of_batch_topk_is_an_average_in_double_precision():
    made = coder(activation="batch_topk")
    made.recipe = replace(made.recipe, settle=1, memory=4)
    least = []
    for step in range(6):
        least.append(made.coded(batch(step))[1].values.detach())
        least[-1] = least[-1][least[-1] > 0].min().double()
    expected = least[1]
    for number, value in enumerate(least[2:], start=2):
        expected = expected + (value - expected) / min(number, 4)
    assert made.threshold.dtype == torch.float64
    torch.testing.assert_close(made.threshold, expected)


def test_projection_brings_rows_back_to_unit_length():
    made = coder()
    with torch.no_grad():
        made.decoder.mul_(3)
        made.project()
    torch.testing.assert_close(made.decoder.norm(dim=1), torch.ones(M))
