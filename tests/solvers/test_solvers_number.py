"""The number of latents: what it must not depend on, and where it must not be given."""

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from unmix.solvers.number import Number, Trial, _bottleneck, factors, find_number
from unmix.solvers.number._bottleneck import Bent, narrowing
from unmix.solvers.number._factors import Factors
from unmix.solvers.number._search import rows_of
from unmix.solvers.number._witnesses import agreed, radial, steepest

FEW = {"most": 4}


def mixed(n_rows=300, n=2, d=6, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.laplace(size=(n_rows, n)) @ rng.normal(size=(n, d))
    return x + noise * x.std(0) * rng.normal(size=x.shape)


@pytest.fixture(scope="module")
def found():
    return find_number(mixed(), **FEW)


def test_code_lengths_of_factors_are_those_of_the_gaussian():
    x = mixed()
    model = factors(np.cov(x, rowvar=False), 2)
    covariance = model.loadings @ model.loadings.T + np.diag(model.noise)
    expected = -multivariate_normal(np.zeros(6), covariance).logpdf(x) - 3 * np.log(2 * np.pi)
    np.testing.assert_allclose(model.lengths(x), expected)


def test_em_never_lowers_the_likelihood():
    x = mixed(n=3, noise=0.5)
    covariance = np.cov(x, rowvar=False)
    start = np.linalg.eigh(covariance)
    loadings = start[1][:, -3:] * np.sqrt(start[0][-3:])
    before = Factors(loadings, np.full(6, start[0][:3].mean())).lengths(x - x.mean(0)).mean()
    assert factors(covariance, 3).lengths(x - x.mean(0)).mean() < before


def test_two_latents_are_found_and_the_curve_ends_there(found):
    assert found.n_latents == found.n_supported == 2
    assert found.gain > 0.5 and found.after < 0.05
    assert found.lengths[1] - found.lengths[2] == pytest.approx(found.gain)
    assert str(found).startswith("2 latents: the last saves")


def test_order_of_rows_and_rows_that_repeat_others_change_no_bit(found):
    x = mixed()
    order = np.random.default_rng(1).permutation(len(x))
    assert find_number(np.concatenate([x[order], x[:50]]), **FEW).trials == found.trials


def test_shift_scale_and_sign_of_columns_leave_the_linear_codes(found):
    x = mixed() * [1, 10, 1e3, 1e-3, 2, -1] + [0, 5, -7, 1, 0, 0]
    other = rows_of(x, 0)
    assert np.allclose(np.sort(np.abs(other), 0), np.sort(np.abs(rows_of(mixed(), 0)), 0))
    again = find_number(mixed() * [1, 10, 1e3, 1e-3, 2, 1], **FEW)  # signs would sort rows differently
    assert again.n_latents == 2
    np.testing.assert_allclose(
        [each.length for each in again.trials if not each.bent],
        [each.length for each in found.trials if not each.bent],
    )


@pytest.mark.slow
def test_order_of_columns_does_not_change_the_number():
    assert find_number(mixed()[:, ::-1], **FEW).n_latents == 2


def test_the_number_is_at_most_the_rank():
    assert find_number(mixed(n=2, d=7, noise=0.0), most=5).n_latents == 2


@pytest.mark.parametrize("law", ["normal", "laplace"])
def test_variables_without_anything_in_common_have_no_latents(law):
    x = getattr(np.random.default_rng(0), law)(size=(300, 6))
    number = find_number(x, **FEW)
    assert number.n_latents is None and number.n_supported == 0
    assert str(number).startswith("No latents")


def test_variances_that_fall_without_an_end_have_no_number():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(300, 12)) * np.arange(1, 13) ** -0.5
    number = find_number(z @ np.linalg.qr(rng.normal(size=(12, 12)))[0], most=6)
    assert number.n_latents is None and number.n_supported > 0
    assert str(number).startswith("Nothing stops")


@pytest.mark.slow
def test_a_bent_surface_has_fewer_latents_than_linear_ones():
    rng = np.random.default_rng(0)
    z = rng.uniform(-2, 2, size=(1500, 1))
    x = np.column_stack([z, z**2, np.sin(2 * z), np.cos(2 * z), np.tanh(3 * z)])
    number = find_number(x + 0.05 * rng.normal(size=x.shape), most=2)
    assert number.n_latents == 1 and number.n_linear > 1 and number.bent


def test_the_winner_of_each_number_is_the_shortest_code():
    trials = (Trial(0, 0, 3.0, False), Trial(1, 1, 2.0, False), Trial(2, 1, 1.5, True))
    number = Number(1, 1, 2, 1.5, 0.1, 0.0, trials, 10, 2)
    assert number.lengths == {0: 3.0, 1: 1.5} and number.n_linear == 1 and not number.bent


def test_few_rows_of_thousands_of_columns_do_not_tell():
    with pytest.raises(ValueError, match="20 rows and 2,500 columns"):
        find_number(np.random.default_rng(0).normal(size=(20, 2500)))


def test_an_autoencoder_without_a_latent_is_the_one_with_that_latent_unheard():
    x = torch.as_tensor(rows_of(mixed(), 0), dtype=torch.float32)
    torch.manual_seed(0)
    model = Bent(x, 3)
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    kept, noise = torch.tensor([2, 0]), torch.randn(len(x), 3)
    small = model.keeping(kept)
    assert torch.equal(small.encoder(x), model.encoder(x)[:, kept])
    code = torch.randn(5, 3) * torch.tensor([1.0, 0.0, 1.0])
    torch.testing.assert_close(small.decoder(code[:, kept]), model.decoder(code))
    torch.testing.assert_close(small.terms(x, noise[:, kept])[1], model.terms(x, noise)[1][:, kept])
    assert len(model.log_width) == 3  # which is left as it is


def test_a_narrowing_starts_at_the_widest_and_ends_at_one():
    x = torch.as_tensor(rows_of(mixed(), 0), dtype=torch.float32)
    widths, found = zip(*narrowing(x[60:], x[:60], 4), strict=True)
    assert widths[0] == 4 and widths[-1] == 1 and list(widths) == sorted(set(widths), reverse=True)
    lengths = {n: each.lengths.mean() for n, each in zip(widths, found, strict=True)}
    assert lengths[1] > lengths[2] + 0.3  # two latents


def test_where_no_latent_says_anything_none_is_taken_out(monkeypatch):
    monkeypatch.setattr(_bottleneck, "_carried", lambda model, x: torch.full((3,), 0.01))
    x = torch.as_tensor(rows_of(mixed(60), 0), dtype=torch.float32)
    assert [n for n, _ in narrowing(x[20:], x[:20], 3)] == [3]


def test_where_factor_analysis_ends_sharply_it_decides_and_one_that_bends_is_tried_beside_it():
    number = find_number(mixed(1000, n=3, d=9), most=6)
    assert number.n_latents == 3 and [each.n_allowed for each in number.trials if each.bent] == [3]


def with_distance(n=4, d=16, seed=0):
    """Mix latents linearly, and beside them how far each row lies from the middle."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(4000, n))
    far = np.linalg.norm(z, axis=1, keepdims=True)
    x = np.hstack([z, (far - far.mean()) / far.std()]) @ rng.normal(size=(n + 1, d))
    return x / x.std(0) + 0.1 * rng.normal(size=x.shape)


def gains_of(rows, most=9):
    covariance = rows.T @ rows / len(rows)
    return -np.diff([factors(covariance, n).lengths(rows).mean() for n in range(most + 1)])


def test_a_component_that_only_tells_the_distance_from_the_middle_is_no_latent():
    rows = with_distance()
    assert steepest(gains_of(rows)) == 5 and agreed(rows, gains_of(rows)) == 4
    assert radial(np.random.default_rng(0).laplace(size=(4000, 5))) < 0.2


def test_witnesses_that_disagree_or_see_a_slow_fall_say_nothing():
    rng = np.random.default_rng(0)
    falling = rng.normal(size=(2000, 20)) * np.arange(1, 21) ** -0.5
    rows = falling @ np.linalg.qr(rng.normal(size=(20, 20)))[0]
    rows /= rows.std(0)
    assert agreed(rows, gains_of(rows)) == 0
    assert agreed(with_distance(), np.array([3.0, 0.01, 0.0, 0.0, 0.0, 0.0])) == 0


def test_laws_of_single_variables_are_nothing_shared():
    found = find_number(np.random.default_rng(2).exponential(size=(600, 5)))
    assert found.n_latents is None and found.n_supported == 0
