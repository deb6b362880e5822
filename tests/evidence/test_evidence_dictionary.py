"""Trust of features: planted atoms, mixtures of them, and data without any."""

import numpy as np
import pytest

from unmix import trust
from unmix.estimators import SparseAutoencoder, untrained_dictionary
from unmix.evidence import Case
from unmix.evidence import _dictionary as links
from unmix.evidence import _dictionary_rest as rest
from unmix.experiments.papers.sae._planted import atoms_of, right_atoms, rows_of, world_rng


class Given:
    """A dictionary and codes that were not learned."""

    def __init__(self, atoms, codes):
        self.dictionary_, self._codes = atoms, codes

    def transform(self, x):
        return self._codes

    def inverse_transform(self, codes):
        return codes @ self.dictionary_


@pytest.fixture(scope="module")
def world():
    rng = world_rng(0, 9)
    atoms = atoms_of(24, 16, rng)
    x = rows_of(atoms, 4000, 2, rng)
    settings = {"k": 2, "max_iter": 20, "batch_size": 256, "lr": 0.01}
    return x, atoms, SparseAutoencoder(24, random_state=0, **settings).fit(x)


def test_trusted_features_are_right_and_gaussian_data_have_none(world):
    x, atoms, model = world
    found = trust(model, x)
    right = right_atoms(model.dictionary_, atoms)
    assert right.mean() > 0.7
    assert found.trusted.sum() > 0.5 * right.sum()
    assert right[found.trusted].all()
    assert found.headline.endswith("features are trusted")
    assert found.reasons[0].startswith("feature 0: ")
    null = links.gaussian_like(x.astype(float), np.random.default_rng(1)).astype(np.float32)
    copy = SparseAutoencoder(**model.get_params()).set_params(random_state=1).fit(null)
    assert not trust(copy, null).trusted.any()


def test_without_refits_nothing_is_ruled_in(world):
    x, _, model = world
    found = trust(model, x, effort="none")
    assert not found.trusted.any()
    assert "not checked" in found.verdicts


def test_the_same_seed_gives_the_same_verdict(world):
    x, _, model = world
    one, two = (trust(model, x, effort="none") for _ in range(2))
    np.testing.assert_array_equal(one.probability, two.probability)


def test_a_mixture_of_two_atoms_is_more_than_one_direction():
    rng = np.random.default_rng(0)
    atoms = np.eye(6)
    z = (rng.random((4000, 6)) < 0.05) * rng.gamma(2, size=(4000, 6))
    x = z @ atoms + 0.02 * rng.normal(size=(4000, 6))
    mixed = atoms.copy()
    mixed[0] = (atoms[0] + atoms[1]) / np.sqrt(2)
    codes = z.copy()
    codes[:, 0] = z[:, :2] @ mixed[0, :2]
    codes[:, 1] = 0
    here = links.measured(Given(mixed, codes), x)
    strength = links.one_direction(rest.spectra_of(here, np.random.default_rng(0))).strength
    assert strength[0] < 0 < strength[2:].min()
    assert strength[1] == -2  # never on


def test_the_two_largest_singular_values_are_right():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 7)) * [9, 4, 1, 1, 1, 1, 1]
    truth = np.linalg.svd(rows, compute_uv=False)[:2] ** 2
    np.testing.assert_allclose(rest.two_largest(rows, np.eye(7)[0], rng), truth, rtol=1e-3)


def test_a_feature_that_is_never_alone_and_a_twin_are_told(world):
    x, atoms, _ = world
    rng = np.random.default_rng(0)
    z = (rng.random((len(x), 24)) < 0.1) * 1.0
    z[:, 1] = z[:, 0] * (rng.random(len(x)) < 0.5)
    doubled = atoms.copy()
    doubled[5] = doubled[4]
    here = links.measured(Given(doubled, z), x)
    alone = links.on_its_own(here)
    assert alone.strength[1] < 0 < alone.strength[2]
    assert "feature 0 is on too" in alone.words[1]
    assert links.no_twin(here).strength[[4, 5]].max() < 0 < links.no_twin(here).strength[:4].min()


def test_surrogate_has_the_moments_of_the_data(world):
    x = world[0].astype(float)
    twin = links.gaussian_like(x, np.random.default_rng(0))
    np.testing.assert_allclose(np.cov(twin.T), np.cov(x.T), atol=0.15 * np.cov(x.T).max())
    np.testing.assert_allclose(twin.mean(0), x.mean(0), atol=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_no_model_begins_at_the_planted_dictionary(seed):
    """Equal seeds for data and model once started a model at the truth."""
    atoms = atoms_of(64, 32, world_rng(seed, 3))
    x = rows_of(atoms, 300, 3, world_rng(seed, 4))
    model = SparseAutoencoder(64, k=3, max_iter=1, batch_size=100, random_state=seed).fit(x)
    near = (untrained_dictionary(model) @ atoms.T).max(0)
    chance = (untrained_dictionary(model.set_params(random_state=seed + 999)) @ atoms.T).max(0)
    assert near.mean() == pytest.approx(chance.mean(), abs=0.05)
    assert near.max() < 0.9


def test_refits_see_as_many_rows_as_the_model_did(world):
    x, _, model = world
    case = Case(model, x.astype(float), effort="quick", random_state=0)
    refit = links._refit(case, 0)
    assert refit.n_tokens_seen_ == pytest.approx(model.n_tokens_seen_, rel=0.1)


def _on(z):
    return links.measured(Given(np.eye(z.shape[1]), z), np.zeros((len(z), z.shape[1])))


@pytest.mark.parametrize("seed", range(3))
def test_company_is_the_correlation_of_firing_beyond_that_of_nine_in_ten(seed):
    rng = np.random.default_rng(seed)
    z = (rng.random((500, 12)) < rng.uniform(0.05, 0.3, 12)) * rng.exponential(size=(500, 12))
    z[:, 11] = 0
    found = links.pulled(_on(z))
    table = np.corrcoef((z[:, :11] > 0).T)
    np.fill_diagonal(table, -1)
    np.testing.assert_allclose(found.beyond[:11], table.max(1) - np.quantile(table, 0.9, axis=1))
    np.testing.assert_array_equal(found.which[:11], table.argmax(1))
    assert np.isnan(found.beyond[11])
    order = rng.permutation(12)
    np.testing.assert_allclose(links.pulled(_on(z[:, order])).beyond, found.beyond[order])


def test_features_that_come_with_another_are_in_doubt_and_independent_ones_are_not():
    rng = np.random.default_rng(0)
    apart = (rng.random((20_000, 30)) < 0.1) * 1.0
    nested = apart.copy()
    nested[:, :15] = np.maximum(nested[:, :15], nested[:, 15:])
    free, bound = links.pulled(_on(apart)), links.pulled(_on(nested))
    assert (links.no_own_company(free).strength > 1).all()
    assert (links.no_own_company(bound).strength < -1).all()
    assert links.features_come_apart(free).strength[0] > 1 > -1 > links.features_come_apart(bound).strength[0]
    np.testing.assert_array_equal(bound.which, np.r_[15:30, 0:15])
    assert "feature 15" in links.no_own_company(bound).words[0]


def test_company_of_rows_that_are_too_few_says_nothing_in_favour():
    found = links.pulled(_on(np.eye(4)))
    assert np.isnan(found.beyond).all()
    assert (links.no_own_company(found).strength < 0).all()
    assert (links.features_come_apart(found).strength < 0).all()


def _grouped(seed, n=20_000):
    """Draw rows in which the first two of eight atoms come together in half of the cases, the rest apart."""
    rng = np.random.default_rng(seed)
    z = (rng.random((n, 8)) < 0.1) * (0.5 + rng.exponential(size=(n, 8)))
    z[:, 1] = np.where((z[:, 0] > 0) & (rng.random(n) < 0.5), 0.5 + rng.exponential(size=n), z[:, 1])
    return z, z @ np.eye(8) + 0.02 * rng.normal(size=(n, 8))


@pytest.mark.parametrize("seed", range(3))
def test_an_atom_that_another_one_tilts_leaves_more_along_it_and_others_do_not(seed):
    z, x = _grouped(seed)
    tilted, codes = np.eye(8), z.copy()
    tilted[0, :2] = 0.94, 0.34  # a cosine of .94 with the true one
    codes[:, 0] = z[:, 0] * 0.94 + np.where(z[:, 0] > 0, z[:, 1], 0) * 0.34
    codes[:, 1] = np.where(z[:, 0] > 0, 0, z[:, 1])
    found = links.no_tilt(links.left_beside(links.measured(Given(tilted, codes), x)))
    assert found.strength[0] < -0.5 < 0 < np.median(found.strength[2:])
    assert found.strength[0] < found.strength[2:].min() - 0.3
    assert "along feature 1" in found.words[0]
    clean = links.no_tilt(links.left_beside(links.measured(Given(np.eye(8), z), x)))
    assert clean.strength.min() > 0.5


def test_what_is_left_beside_is_a_mean_over_the_rows_of_a_feature():
    z, x = _grouped(0, 300)
    here = links.measured(Given(np.eye(8)[:, ::-1], z), x)
    found = links.left_beside(here)
    along, on = np.square(here.left @ here.atoms.T), z[:, 3] > 0
    kinds = [here.kind == kind for kind in here.kind[on]]
    usual = np.mean([along[kind].mean(0) for kind in kinds], axis=0)
    squares = np.mean([np.square(along[kind]).mean(0) for kind in kinds], axis=0)
    chance = np.sqrt(2 * np.log(8) * (squares - usual**2) / on.sum())
    beyond = along[on].mean(0) - usual - chance
    for most, table in ((found.at_all, beyond), (found.over_usual, beyond / usual)):
        which = np.where(np.arange(8) == 3, -np.inf, table).argmax()
        assert most.which[3] == which
        values = (most.there[3], most.usual[3], most.chance[3])
        np.testing.assert_allclose(values, (along[on].mean(0)[which], usual[which], chance[which]))
    np.testing.assert_allclose(found.energy[3], np.square(z[on, 3]).mean())
    assert found.times[3] == on.sum()


@pytest.mark.parametrize("seed", range(3))
def test_rows_with_more_features_on_leave_more_and_speak_against_none(seed):
    """With a threshold the number of active features varies, and what is left with it."""
    rng = np.random.default_rng(seed)
    busy = rng.choice([0.02, 0.2], size=(20_000, 1))
    z = (rng.random((20_000, 40)) < busy) * (0.5 + rng.exponential(size=(20_000, 40)))
    x = z @ np.eye(40) + 0.3 * np.sqrt((z > 0).sum(1, keepdims=True)) * rng.normal(size=z.shape)
    here = links.measured(Given(np.eye(40), z), x)
    beside, spectra = links.left_beside(here), rest.spectra_of(here, rng)
    alike = here._replace(kind=np.zeros(len(x), dtype=int))  # as if all rows were of one kind
    plain, blind = links.left_beside(alike), rest.spectra_of(alike, rng)
    assert links.no_tilt(beside).strength.min() > 1 > 0 > np.median(links.no_tilt(plain).strength)
    assert np.median(spectra[:, 0] / spectra[:, 1]) == pytest.approx(1, abs=0.15)
    assert np.median(blind[:, 0] / blind[:, 1]) > 1.25
    assert links.one_direction(spectra).strength.min() > 0.5


@pytest.mark.parametrize("n_features", [20, 300])
def test_the_largest_of_many_atoms_is_not_beyond_chance(n_features):
    rng = np.random.default_rng(n_features)
    z = (rng.random((3000, n_features)) < 0.02) * 1.0
    noise = rng.normal(size=z.shape)
    here = links.measured(Given(np.eye(n_features), z), z + noise)
    most = links.left_beside(here).at_all
    beyond = most.there - most.usual
    assert (beyond < 1.5 * most.chance).mean() > 0.9
    assert np.median(beyond) > 0.5 * np.median(most.chance)


def test_atoms_of_codes_with_one_sum_could_all_be_moved():
    rng = np.random.default_rng(0)
    on = np.zeros((4000, 12))
    np.put_along_axis(on, rng.random((4000, 12)).argsort(1)[:, :3], 1.0, 1)
    moved = np.eye(12) + 0.3 * rng.normal(size=12)
    np.testing.assert_allclose(on @ moved - 3 * (moved[0] - np.eye(12)[0]), on @ np.eye(12), atol=1e-12)
    assert links.origin_is_told(_on(on)).strength.max() < -2
    free = on * (0.5 + rng.exponential(size=on.shape))
    assert links.origin_is_told(_on(free)).strength.min() > 0.5
