"""Evidence from domains: what shuffled labels, alike changes and dependence are worth, and the laws."""

import numpy as np
import pytest

import unmix
from unmix.data import multi_domain
from unmix.evidence import Case
from unmix.evidence._domains import links, pinned, stays
from unmix.evidence._domains_pairs import dependence, turned
from unmix.evidence._domains_rows import spread
from unmix.evidence._domains_zeros import column_evidence, zeros_between

N, DOMAINS = 1200, 5
APART = "told apart from the others"
CHANGES = "changes between domains"
CLEANER = "cleaner than if turned"
INDEPENDENT = "independent within domains"


class Linear:
    """A model that knows the mixing, up to a change of the code."""

    def __init__(self, mixing, turn=None):
        self.mixing = mixing if turn is None else mixing @ np.linalg.inv(turn)

    def transform(self, x):
        return x @ np.linalg.pinv(self.mixing).T

    def inverse_transform(self, z):
        return z @ self.mixing.T

    def jacobian(self, x):
        return np.broadcast_to(self.mixing, (len(x), *self.mixing.shape))


def world(changes="both", seed=0, n=3):
    rng = np.random.default_rng(seed)
    u = rng.integers(DOMAINS, size=N)
    m, s = rng.normal(size=(DOMAINS, n)), np.exp(0.8 * rng.normal(size=(DOMAINS, n)))
    if changes == "means":
        s = np.ones_like(s)
    if changes == "alike":
        s = np.repeat(s[:, :1], n, axis=1)
    if changes == "nothing":
        m, s = 0 * m, np.ones_like(s)
    return m[u] + s[u] * rng.normal(size=(N, n)), u


def strengths(z, u, turn=None, mixing=None, effort="none"):
    mixing = np.random.default_rng(9).normal(size=(7, z.shape[1])) if mixing is None else mixing
    case = Case(Linear(mixing, turn), z @ mixing.T, domains=u, effort=effort, random_state=0)
    return {each.name: each.strength for each in links(case)}


@pytest.mark.parametrize("seed", range(3))
def test_changes_in_other_proportions_tell_latents_apart(seed):
    found = strengths(*world(seed=seed))
    assert min(found[name].min() for name in (CHANGES, APART, INDEPENDENT, CLEANER)) > 0.3


@pytest.mark.parametrize("changes", ["means", "alike", "nothing"])
@pytest.mark.parametrize("seed", range(3))
def test_changes_that_leave_a_turn_open_tell_nothing_apart(changes, seed):
    assert strengths(*world(changes, seed))[APART].max() < 0.2


def test_shuffled_labels_are_no_changes():
    z, u = world()
    found = strengths(z, np.random.default_rng(1).permutation(u))
    assert found[CHANGES].max() < 0.1 < 1 < strengths(z, u)[CHANGES].min()


def test_a_turned_code_is_dependent_and_could_be_turned_back():
    turn = np.eye(3)
    turn[:2, :2] = np.array([[1, -1], [1, 1]]) / np.sqrt(2)
    found = strengths(*world(), turn=turn)
    right = strengths(*world())
    assert found[APART][:2].max() < 0.2 and found[INDEPENDENT][:2].max() < 0
    assert right[APART].min() > 0.5 and right[INDEPENDENT].min() > 0.5


def test_latents_that_depend_within_domains_differently_are_seen():
    z, u = world()
    z[:, 0] += np.array([-1.0, 1.0, 0.5, -0.5, 1.5])[u] * z[:, 1]
    assert strengths(z, u)[INDEPENDENT][:2].max() < 0


def test_laws_that_are_not_gaussian_tell_apart_without_changes():
    rng = np.random.default_rng(0)
    u = rng.integers(DOMAINS, size=N)
    heavy, normal = rng.laplace(size=(N, 2)), rng.normal(size=(N, 2))
    assert turned(heavy, u).min() > 3 * turned(normal, u).min()


def test_independent_pairs_score_as_many_as_degrees_of_freedom():
    rng = np.random.default_rng(0)
    u = rng.integers(DOMAINS, size=400)
    assert np.mean([dependence(rng.normal(size=(400, 2)), u) for _ in range(60)]) == pytest.approx(8, abs=1.5)


def test_the_dependence_of_a_pair_ignores_functions_of_each():
    z, u = world()
    assert dependence(np.sinh(2 * z[:, :2]), u) == pytest.approx(dependence(z[:, :2], u))


def test_relabelling_permutes_and_units_change_nothing():
    (z, u), order = world(), [2, 0, 1]
    mixing = np.random.default_rng(9).normal(size=(7, 3))
    plain = strengths(z, u, mixing=mixing)
    moved = strengths(z[:, order], 10 - u, mixing=mixing[:, order])
    scaled = strengths(z * [1, 10, 0.1] + 5, u, mixing=mixing / [1, 10, 0.1])
    for name in (APART, INDEPENDENT):
        np.testing.assert_allclose(moved[name], plain[name][order], atol=0.1)
        np.testing.assert_allclose(scaled[name], plain[name], atol=1e-6)


def test_copies_of_rows_are_no_evidence():
    z, u = world()
    once, thrice = strengths(z, u), strengths(np.tile(z, (3, 1)), np.tile(u, 3))
    for name, value in once.items():
        np.testing.assert_allclose(thrice[name], value)


def test_only_zeros_beyond_the_free_ones_count():
    column, once = np.array([1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.0, 0.0]), np.ones(9, int)
    assert column_evidence(column, once, 3) == 0
    more = [column_evidence(np.r_[np.ones(9 - k), np.full(k, 1e-3)], once, 3) for k in range(2, 9)]
    assert more[0] == 0 and np.all(np.diff(more) > 0)


def test_zeros_keep_a_latent_out_only_where_the_other_one_moves_something():
    mixing = np.random.default_rng(0).uniform(0.5, 1, size=(12, 2))
    mixing[6:, 0] = 0  # z0 moves part of what z1 moves
    found = zeros_between(mixing[None], np.random.default_rng(1).normal(size=(50, 2)))
    assert found[1, 0] > 2 and found[0, 1] == 0


def test_latents_that_are_observed_variables_themselves_have_no_zeros_to_show():
    found = zeros_between(np.eye(4)[None], np.random.default_rng(0).normal(size=(50, 4)))
    assert np.all(found == 0)


@pytest.mark.parametrize("seed", range(5))
def test_a_dense_mixing_in_its_sparsest_coordinates_shows_no_zeros(seed):
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(8, 3))
    columns = [np.linalg.svd(mixing[rows])[2][2] for rows in ([0, 1], [2, 3], [4, 5])]  # two zeros in each
    found = zeros_between((mixing @ np.array(columns).T)[None], rng.normal(size=(50, 3)))
    assert found.max() < 1.5


def test_one_latent_has_no_rival():
    z, u = world(n=1)
    assert strengths(z, u)[APART].shape == (1,) and strengths(z, u)[APART][0] > 1


def test_a_quantity_is_cut_where_the_model_cut_it():
    z, u = world()
    model, exact = Linear(np.eye(3)), Linear(np.eye(3))
    model.domain_cuts_ = np.arange(DOMAINS - 1) + 0.5
    later = u + np.random.default_rng(0).uniform(-0.4, 0.4, size=N)
    found, wanted = (
        list(links(Case(each, z, domains=labels))) for each, labels in ((model, later), (exact, u))
    )
    np.testing.assert_allclose(found[1].strength, wanted[1].strength)


def test_domains_that_are_too_small_for_a_half_are_left_out_of_refits():
    z, u = world()
    u[:5] = DOMAINS  # five rows are enough for a fit of three latents, and two or three are not
    model = unmix.CGVAE(3, max_iter=1, n_restarts=1, random_state=0).fit(z, domains=u)
    assert Case(model, z, domains=u, random_state=0).first.n_domains_ == DOMAINS


def test_bends_need_domains_or_zeros():
    (z, u), rng = world(), np.random.default_rng(4)
    mixing, more = rng.normal(size=(7, 3)), rng.normal(size=(7, 3))

    class Bent(Linear):
        def inverse_transform(self, z):
            return z @ mixing.T + np.square(z) @ more.T

        def transform(self, x):
            return z

        def jacobian(self, x):
            return mixing + 2 * more * z[: len(x), None, :]

    case = Case(Bent(mixing), z @ mixing.T + np.square(z) @ more.T, domains=u)
    assert (
        pinned(case).strength.max() < 0 < pinned(Case(Linear(mixing), z @ mixing.T, domains=u)).strength.min()
    )
    many = Case(Bent(mixing), case.x, domains=np.arange(N) % 15)
    assert pinned(many).strength.min() > 0.5


@pytest.mark.parametrize("n_observed", [3, 5])
def test_a_table_of_as_many_directions_as_latents_leaves_no_room_for_one_more(n_observed):
    z, u = world()
    x = z @ np.random.default_rng(0).normal(size=(3, n_observed))
    model = unmix.CGVAE(3, max_iter=1, n_restarts=1, random_state=0).fit(x, domains=u)
    case = Case(model, x, domains=u, effort="full", random_state=0)
    assert stays(case).strength.tolist() == [1, 1, 1] and "no room" in stays(case).words[0]


def test_domains_that_take_turns_are_all_looked_at():
    u = np.arange(24_000) % 4
    assert len(np.unique(u[spread(u, 1000)])) == 4 and len(spread(u, 1000)) == 1000


def test_links_are_the_same_at_every_effort():
    z, u = world()
    names = [each.name for each in links(Case(Linear(np.eye(3)), z, domains=u, effort="none"))]
    assert len(set(names)) == len(names) == 11


@pytest.mark.parametrize("kind", ["CGVAE", "IVAE"])
@pytest.mark.parametrize("effort", ["none", "quick"])
def test_shuffled_labels_are_not_trusted(kind, effort):
    z, u = world("nothing")
    x = z @ np.random.default_rng(3).normal(size=(3, 6))
    model = getattr(unmix, kind)(3, max_iter=3, n_restarts=1, random_state=0).fit(x, domains=u)
    found = unmix.trust(model, x, domains=u, effort=effort)
    assert not found.trusted.any() and "z" in found.reasons[0]


@pytest.mark.slow
def test_a_good_world_is_trusted():
    data = multi_domain(800, 3, graph="A", n_domains=6, mixing="linear", random_state=1)
    model = unmix.CGVAE(3, random_state=0).fit(data.x, domains=data.u)
    assert unmix.trust(model, data.x, domains=data.u, effort="full").trusted.all()


@pytest.mark.parametrize("reads", ["all", "components"])
def test_refits_read_what_the_fit_read_whatever_the_number_of_rows(reads):
    data = multi_domain(200, 3, n_domains=2, random_state=0)
    model = unmix.CGVAE(3, reads=reads, max_iter=1, n_restarts=1, random_state=0).fit(data.x, data.u)
    model.set_params(reads="auto")
    case = Case(model, data.x, domains=data.u, effort="quick", random_state=0)
    assert case.first.reads_all_ == model.reads_all_ == (reads == "all")


@pytest.mark.parametrize("law", ["correlated", "gaussian"])
def test_refits_have_the_law_that_the_fit_found(law):
    data = multi_domain(200, 3, n_domains=4, random_state=0)
    model = unmix.CGVAE(3, prior=law, max_iter=1, n_restarts=1, random_state=0).fit(data.x, data.u)
    model.set_params(prior="auto")
    case = Case(model, data.x, domains=data.u, effort="quick", random_state=0)
    assert case.first.prior == law and case.first.correlated_ == model.correlated_ == (law == "correlated")
