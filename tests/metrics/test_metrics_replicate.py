"""Which latents replicate: names, signs and units do not matter, subspaces are found, noise is noise."""

import json

import numpy as np
import pytest

from unmix import tables
from unmix.metrics import replicate
from unmix.metrics.alignment import _columns, _matches, _noise, _spans
from unmix.rows import array_rows

TURN = np.array([[0.7, 0.7], [-0.7, 0.7]])


def worlds(n=900, noise=0.02, seed=0):
    """Draw a reference and a run that has latents 0 and 5 alone, 1 and 2 turned, and neither 3 nor 4."""
    rng = np.random.default_rng(seed)
    z = rng.laplace(size=(n, 6))
    strange = rng.normal(size=(n, 2))
    other = np.column_stack([strange[:, 0], -z[:, 5], z[:, 1:3] @ TURN, strange[:, 1], 3 * z[:, 0]])
    return z, other + noise * rng.normal(size=other.shape)


STATUS = ["alone", "subspace", "subspace", "none", "none", "alone"]


def test_each_latent_gets_its_verdict_partner_and_subspace():
    found = replicate(worlds()).runs[0]
    assert found.status.tolist() == STATUS
    assert found.partner[[0, 5]].tolist() == [5, 1]
    assert found.correlation[0] > 0.99 and found.correlation[5] < -0.99
    assert [tuple(group) for group in found.subspaces] == [((1, 2), (2, 3))]
    assert found.subspace.tolist() == [-1, 0, 0, -1, -1, -1]
    assert found.counts == {"alone": 2, "subspace": 2, "none": 2, "constant": 0}
    replicated = np.isin(found.status, ["alone", "subspace"])
    assert (found.noise[replicated] < 1e-3).all() and (found.noise[~replicated] > 0.01).all()
    assert (found.span[replicated] > 0.99).all() and (found.span[~replicated] < 0.3).all()


@pytest.mark.parametrize("seed", range(3))
def test_names_signs_and_units_of_latents_change_nothing_but_names(seed):
    z, other = worlds(seed=seed)
    rng = np.random.default_rng(100 + seed)
    plain = replicate([z, other]).runs[0]
    here, there = rng.permutation(6), rng.permutation(6)
    units = [rng.choice([-1, 1], 6) * rng.uniform(1e-3, 1e3, 6) for _ in range(2)]
    moved = replicate([z[:, here] * units[0] + 7, other[:, there] * units[1] - 1e3]).runs[0]
    assert moved.status.tolist() == plain.status[here].tolist()
    assert there[moved.partner].tolist() == plain.partner[here].tolist()
    for name in ("span", "noise", "rotated"):
        np.testing.assert_allclose(getattr(moved, name), getattr(plain, name)[here], rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(np.abs(moved.correlation), np.abs(plain.correlation[here]), atol=1e-9)
    [group], [expected] = moved.subspaces, plain.subspaces
    assert set(here[list(group.latents)]) == set(expected.latents)
    assert set(there[list(group.counterparts)]) == set(expected.counterparts)


@pytest.mark.parametrize("twice", [lambda z: np.vstack([z, z]), lambda z: np.repeat(z, 2, axis=0)])
def test_rows_given_twice_change_no_verdict(twice):
    runs = worlds()
    once, again = replicate(runs).runs[0], replicate([twice(run) for run in runs]).runs[0]
    assert again.status.tolist() == once.status.tolist() and again.subspaces == once.subspaces


def test_a_rotation_of_everything_is_one_subspace_and_scores_what_rotations_score():
    rng = np.random.default_rng(3)
    z = rng.normal(size=(1500, 8))
    scores = []
    for seed in range(10):
        q = np.linalg.qr(np.random.default_rng(seed).normal(size=(8, 8)))[0]
        found = replicate([z, z @ q]).runs[0]
        scores.append(np.abs(found.correlation).mean())
        assert (found.span > 0.99).all() and np.isin(found.status, ["alone", "subspace"]).all()
        assert sum(len(group.latents) for group in found.subspaces) >= 4
    assert np.mean(scores) == pytest.approx(found.rotated.mean(), abs=0.03)


def test_a_latent_said_twice_leaves_one_alone_and_names_both():
    rng = np.random.default_rng(0)
    z = rng.laplace(size=(800, 3))
    twice = np.column_stack([z[:, 0], z[:, 0] + 0.05 * rng.normal(size=800), z[:, 1], z[:, 1] + z[:, 2]])
    found = replicate([twice, z]).runs[0]
    assert found.status.tolist() == ["alone", "subspace", "alone", "subspace"]
    assert [tuple(group) for group in found.subspaces] == [((0, 1), (0,)), ((2, 3), (1, 2))]


@pytest.mark.parametrize("fires", [None, 0.1], ids=["normal", "rare"])
def test_noise_replicates_no_more_often_than_is_said(fires):
    rates, called = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        runs = rng.normal(size=(2, 240, 12))
        runs = runs if fires is None else runs * (rng.random(runs.shape) < fires)
        found = replicate(runs.tolist(), threshold=0.01, random_state=seed).runs[0]
        rates.extend(found.noise)
        called.extend(found.status == "alone")
    rates = np.array(rates)
    assert np.mean(called) < 0.07
    assert (rates <= 0.05).mean() < 0.08 and (rates <= 0.5).mean() < 0.57
    if fires is None:  # and where the law is exact, not much less often either
        assert (rates <= 0.05).mean() > 0.02 and (rates <= 0.5).mean() > 0.4


@pytest.mark.parametrize("kind", ["normal", "laplace", "binary", "once"])
def test_the_law_of_the_best_correlation_covers_shuffled_rows(kind):
    rng, n, k, draws = np.random.default_rng(5), 120, 15, 400
    a, b = standard(kind, n, 1, rng), standard(kind, n, k, rng)
    best = np.array([np.abs(rng.permutation(a).T @ b / n).max() for _ in range(draws)])
    for r in (0.25, 0.35, 0.9):
        law = _noise.best_of(np.array([r]), n, (a**4).mean(0), (b**4).mean(0))[0]
        share = (best >= r).mean()
        assert share <= law + 3 * np.sqrt(law * (1 - law) / draws) + 0.005
        assert law < 1.5 * share + 0.06 or kind != "normal"


def standard(kind, n, k, rng):
    drawn = {
        "normal": rng.normal(size=(n, k)),
        "laplace": rng.laplace(size=(n, k)),
        "binary": (rng.permuted(np.tile(np.arange(n)[:, None], k), axis=0) < n // 10).astype(float),
        "once": (rng.permuted(np.tile(np.arange(n)[:, None], k), axis=0) < 1).astype(float),
    }[kind]
    drawn = drawn - drawn.mean(0)
    return drawn / drawn.std(0)


def test_latents_that_fire_once_are_no_match_though_they_coincide():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 300, 5))
    a[:, 0] = b[:, 0] = np.arange(300) == 7
    found = replicate([a, b]).runs[0]
    assert found.status[0] == "none" and found.noise[0] == 1


def test_rare_latents_that_fire_together_replicate():
    rng = np.random.default_rng(0)
    codes = rng.exponential(size=(2000, 30)) * (rng.random((2000, 30)) < 0.03)
    found = replicate([codes, codes[:, ::-1] * 5]).runs[0]
    assert (found.status == "alone").all() and found.partner.tolist() == list(range(29, -1, -1))


def test_constant_latents_are_not_there():
    z, other = worlds()
    z[:, 0], other[:, 1] = 3.0, 0.0
    result = replicate([z, other])
    found = result.runs[0]
    assert found.status[0] == "constant" and found.partner[0] == -1 and found.status[5] == "none"
    assert any("1 latents of the other runs are constant" in note for note in result.notes)
    assert "constant" in str(result)


def test_many_regressors_do_not_make_noise_a_subspace():
    rng = np.random.default_rng(0)
    found = replicate([rng.normal(size=(150, 5)), rng.normal(size=(150, 95))])
    assert (found.runs[0].status == "none").all()
    assert any("rows to fit up to 95 regressors" in note for note in found.notes)


def test_several_runs_are_counted_latent_by_latent():
    z, other = worlds()
    result = replicate([z, other, z[:, :4]], names=["a", "b", "c"])
    assert result.n_alone.tolist() == [2, 1, 1, 1, 0, 1]
    assert result.n_replicated.tolist() == [2, 2, 2, 1, 0, 1]
    heads, rows = result.summary()
    assert heads[0] == "run" and [row[:3] for row in rows] == [("b", "6", "33%"), ("c", "4", "67%")]
    document = json.loads(json.dumps(result.to_dict()))
    assert [entry["replicates_in"] for entry in document["latents"]] == [2, 2, 2, 1, 0, 1]
    assert document["runs"][0]["subspaces"] == [{"latents": [1, 2], "counterparts": [2, 3]}]
    assert document["latents"][1]["runs"][0]["subspace"] == 0
    assert "Agreement is not identification" in str(result) and "{1, 2} in {2, 3}" in str(result)
    assert "3 replicate in both other runs (1 alone, 2 with" in result.meaning


@pytest.mark.parametrize("limit", [None, 4])
def test_blocks_and_tiles_change_nothing(limit, monkeypatch):
    z, other = worlds()
    whole = replicate([z, other], candidates=limit).runs[0]
    monkeypatch.setattr(_matches, "_TILE", 13)
    monkeypatch.setattr(_matches, "_CHUNK", 4)
    monkeypatch.setattr(_spans, "TOGETHER", 2)
    monkeypatch.setattr(_columns, "_ENTRIES", 40)
    pieces = replicate([array_rows(z, 7), other], candidates=limit).runs[0]
    assert pieces.status.tolist() == whole.status.tolist() == STATUS
    assert pieces.subspaces == whole.subspaces
    for name in ("partner", "correlation", "span", "noise"):
        np.testing.assert_allclose(getattr(pieces, name), getattr(whole, name), rtol=1e-6, atol=1e-12)


def test_files_and_folders_of_shards_give_the_same_as_arrays(tmp_path):
    z, other = worlds()
    np.save(tmp_path / "z.npy", z)
    (tmp_path / "shards").mkdir()
    for k, part in enumerate(np.array_split(other, 3)):
        np.save(tmp_path / "shards" / f"{k}.npy", part)
    tables.write(tmp_path / "other.parquet", other)
    whole = replicate([z, other, other]).to_dict()
    paths = [tmp_path / "z.npy", str(tmp_path / "shards"), tmp_path / "other.parquet"]
    assert replicate(paths).to_dict() == whole


def test_wide_codes_are_matched_among_their_nearest_in_single_precision():
    rng = np.random.default_rng(0)
    codes = rng.laplace(size=(500, 1200)) * (rng.random((500, 1200)) < 0.2)
    other = codes[:, ::-1].copy()
    other[:, :2] = codes[:, 1199:1197:-1] @ TURN
    other[:, 5] = rng.normal(size=500)
    result = replicate([codes.astype(np.float32), other])
    found = result.runs[0]
    assert found.counts == {"alone": 1197, "subspace": 2, "none": 1, "constant": 0}
    assert found.status[1194] == "none" and [tuple(g) for g in found.subspaces] == [((1198, 1199), (0, 1))]
    assert "64 nearest latents" in result.notes[0]


def test_progress_rises_to_one():
    shares = []
    replicate(worlds(), on_progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1 and 0 < shares[0] < 0.5


@pytest.mark.parametrize(
    ("runs", "settings", "words"),
    [
        (lambda z: [z], {}, "at least two runs, got 1"),
        (lambda z: z, {}, "at least two runs, got 1"),
        (lambda z: [z, z[:-1]], {}, "`run 2` must have as many rows as `run 1`, got 899 and 900"),
        (
            lambda z: [z, np.where(z == z[30, 2], np.inf, z)],
            {},
            "`run 2` must be finite, got inf in row 30, c",
        ),
        (lambda z: [z * 0, z], {}, "`run 1` must vary"),
        (lambda z: [z, z[:, 0]], {}, "`run 2` must be numbers of shape"),
        (lambda z: [z, "gone.npy"], {}, "`run 2` must be a file that exists, got 'gone.npy'"),
        (lambda z: [z, z], {"names": ["a"]}, "one name per run, got 1 for 2"),
        (lambda z: [z, z], {"threshold": 1.0}, "`threshold` must be a correlation"),
        (lambda z: [z, z], {"held_out": 0.0}, "`held_out` must be a share"),
        (lambda z: [z, z], {"candidates": 0}, "`candidates` must be at least 1"),
        (lambda z: [z[:8], z[:8]], {}, "at least 5 rows to fit and 5 held out"),
    ],
)
def test_what_cannot_be_compared_is_refused(runs, settings, words):
    with pytest.raises(ValueError) as error:
        replicate(runs(worlds()[0]), **settings)
    assert words in str(error.value)
