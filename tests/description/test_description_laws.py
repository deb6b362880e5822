"""What a latent stands for does not depend on order or sign, and chance is told from what is there."""

from types import SimpleNamespace

import numpy as np
import pytest

from unmix.description import describe, enrichment, groups_of_names, relations

PARTS = [f"{part}_{kind}_{k}" for part in ("Cells", "Nuclei") for kind in ("ER", "RNA") for k in range(6)]


class Linear:
    """A linear model with known loadings; `flip` turns its first latent over."""

    def __init__(self, mixing, flip=False):
        self.mixing_ = np.array(mixing, dtype=float)
        if flip:
            self.mixing_[:, 0] *= -1

    def transform(self, x):
        return np.asarray(x) @ np.linalg.pinv(self.mixing_).T


def world(n=300, seed=0):
    """Latent 0 moves ER, latent 1 RNA, latent 2 everything a little."""
    rng = np.random.default_rng(seed)
    mixing = 0.1 * rng.normal(size=(24, 3))
    mixing[["ER" in name for name in PARTS], 0] += rng.choice([-1, 1], 12) * rng.uniform(1, 2, 12)
    mixing[["RNA" in name for name in PARTS], 1] += rng.uniform(1, 2, 12)
    z = rng.normal(size=(n, 3))
    beside = {
        "week": np.array(["early", "late", "later"])[np.digitize(z[:, 0], [-0.5, 0.5])],
        "treated": z[:, 0] > 0,
        "dose": np.exp(z[:, 0]),
        "coin": rng.integers(2, size=n).astype(str),
    }
    return z @ mixing.T, mixing, beside


def described(x, mixing, beside, names=PARTS, **more):
    frame = SimpleNamespace(feature_names_in_=np.array(names, dtype=object))
    model = Linear(mixing, **more)
    model.feature_names_in_ = frame.feature_names_in_
    return describe(model, x, metadata=beside, ids=[f"row {i}" for i in range(len(x))])


def test_what_is_there_is_found():
    found = described(*world()).latents
    assert [each.name for each in found[0].groups] == ["ER"] and found[0].groups[0].sign == ""
    assert found[1].label == "+ RNA" and not found[2].groups
    assert all("ER" in each.name for each in found[0].variables)
    assert {each.column for each in found[0].related} == {"week", "treated", "dose"}
    assert not found[1].related and not found[2].related


def test_the_order_of_variables_changes_nothing_but_names():
    x, mixing, beside = world()
    order = np.random.default_rng(3).permutation(24)
    plain = described(x, mixing, beside)
    moved = described(x[:, order], mixing[order], beside, [PARTS[i] for i in order])
    for one, other in zip(plain.latents, moved.latents, strict=True):
        assert [each.name for each in one.variables] == [each.name for each in other.variables]
        assert [each.size for each in one.variables] == pytest.approx([e.size for e in other.variables])
        assert {each.name for each in one.groups} == {each.name for each in other.groups}
    assert plain.enrichment.ratio == pytest.approx(
        moved.enrichment.ratio[[moved.enrichment.names.index(name) for name in plain.enrichment.names]]
    )


def test_turning_a_latent_over_flips_signs_and_nothing_else():
    x, mixing, beside = world()
    one, other = (described(x, mixing, beside, flip=flip) for flip in (False, True))
    before, after = one.latents[0], other.latents[0]
    assert [(e.name, -e.size) for e in before.variables] == [(e.name, e.size) for e in after.variables]
    assert before.lowest == after.highest and before.highest == after.lowest
    assert before.histogram.counts.tolist() == after.histogram.counts[::-1].tolist()
    assert one.enrichment.p.tolist() == other.enrichment.p.tolist()
    assert one.enrichment.direction[:, 0] == pytest.approx(-other.enrichment.direction[:, 0])
    pairs = {
        each.column: (each, next(e for e in after.metadata if e.column == each.column))
        for each in before.metadata
    }
    assert all(a.noise == pytest.approx(b.noise) and a.p == b.p for a, b in pairs.values())
    week, treated, dose = pairs["week"], pairs["treated"], pairs["dose"]
    assert week[0].value == pytest.approx(week[1].value) and week[0].where[1:] == week[1].where[1:]
    assert {week[0].where[0], week[1].where[0]} == {"+", "−"}
    assert treated[0].value == treated[1].value == 1 and (treated[0].where, treated[1].where) == (
        "True",
        "False",
    )
    assert dose[0].value == pytest.approx(1) and dose[1].value == pytest.approx(-1)
    assert [str(each) for each in one.latents[1:]] == [str(each) for each in other.latents[1:]]


DRAWS = 240


def test_random_groups_are_found_at_the_stated_rate_and_planted_ones_always():
    rng, groups = np.random.default_rng(0), {f"g{k}": range(8 * k, 8 * k + 8) for k in range(6)}
    by_chance, planted = 0, 0
    for draw in range(DRAWS):
        loadings = rng.standard_t(4, size=(48, 5))
        by_chance += bool((enrichment(loadings, groups, n_draws=99, random_state=draw).p <= 0.05).any())
        loadings[:8, 2] += 4 * np.sign(loadings[:8, 2])
        planted += bool(enrichment(loadings, groups, n_draws=99, random_state=draw).p[0, 2] <= 0.05)
    error = 3 * np.sqrt(0.05 * 0.95 / DRAWS)
    assert 0.05 - error < by_chance / DRAWS < 0.05 + error
    assert planted / DRAWS > 0.9


def test_groups_whose_variables_are_alike_are_told_from_what_a_random_mix_shows():
    """Blocks of variables that measure one thing each: any direction moves some block more than others."""
    rng, groups = np.random.default_rng(0), {f"g{k}": range(10 * k, 10 * k + 10) for k in range(6)}
    found = special = right = 0
    for draw in range(60):
        turned = np.repeat(np.linalg.qr(rng.normal(size=(6, 6)))[0], 10, axis=0)
        e = enrichment(turned + 0.1 * rng.normal(size=(60, 6)), groups, n_draws=99, random_state=draw)
        found += int((e.p <= 0.05).sum())
        special += int(((e.p <= 0.05) & (e.ratio > e.mixed[:, None])).sum())
        axes = np.repeat(np.eye(6), 10, axis=0)
        e = enrichment(axes + 0.1 * rng.normal(size=(60, 6)), groups, n_draws=99, random_state=draw)
        right += int(((e.p <= 0.05) & (e.ratio > e.mixed[:, None])).sum())
    assert found > 60 and special < 0.4 * found, "permutation of variables alone would name a random mix"
    assert right == 6 * 60, "latents of one block each are named, all of them"


def test_unrelated_columns_are_found_at_the_stated_rate():
    rng, wrong = np.random.default_rng(0), 0
    for draw in range(DRAWS):
        codes = rng.standard_t(3, size=(80, 3))
        beside = {
            "plate": rng.integers(5, size=80).astype(str),
            "treated": np.arange(80) % 3 == 0,
            "dose": np.where(rng.random(80) < 0.2, np.nan, rng.normal(size=80)),
        }
        found = relations(codes, beside, random_state=draw, n_draws=99)
        wrong += any(each.p <= 0.05 for of in found.of for each in of)
    error = 3 * np.sqrt(0.05 * 0.95 / DRAWS)
    assert 0.05 - error < wrong / DRAWS < 0.05 + error


def test_words_of_names_make_groups():
    found = groups_of_names(PARTS)
    assert list(found) == ["Cells", "Nuclei", "ER", "RNA"] and len(found["ER"]) == 12
    assert groups_of_names([f"x{i}" for i in range(20)]) == {}
    assert groups_of_names(["a.b c", "b-d", "b/e", "f", "g", "h"])["b"].tolist() == [0, 1, 2]
    joined = groups_of_names([f"Location_Center_{k}" for k in "XYZ"] + ["p", "q", "r"])
    assert list(joined) == ["Location/Center"]
