import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmix.data import FactorDataset
from unmix.metrics import beta_vae_score, factor_vae_score

SIZES = (2, 3, 4)
NAMES = ("shape", "shade", "place")
GRID = np.stack(np.unravel_index(np.arange(24), SIZES), axis=1)


def shown(factors):
    """Images whose first three pixels are the factors."""
    images = np.zeros((len(factors), 2, 2, 1), dtype=np.uint8)
    images.reshape(len(factors), 4)[:, :3] = factors
    return images


def read(images):
    return np.asarray(images).reshape(len(images), 4)[:, :3].astype(float)


class Renderer:
    """Images that are drawn only where they are asked for."""

    shape, dtype = (24, 2, 2, 1), np.dtype(np.uint8)

    def __len__(self):
        return 24

    def __getitem__(self, rows):
        return shown(GRID[rows])


@given(
    rows=st.lists(st.integers(0, 23), min_size=1, max_size=40),
    held=st.sets(st.integers(0, 2)),
    seed=st.integers(0, 1000),
)
def test_samples_exist_fixed_factors_stay_and_the_others_vary(rows, held, seed):
    data = FactorDataset(shown(GRID[rows]), GRID[rows], NAMES, SIZES)
    fixed = {NAMES[j] if seed % 2 else j: GRID[rows[0], j] for j in held}
    found = data.sample(300, fixed, random_state=seed)
    np.testing.assert_array_equal(read(found.images), found.factors)
    possible = {tuple(row) for row in GRID[rows] if all(row[j] == GRID[rows[0], j] for j in held)}
    drawn, counts = np.unique(found.factors, axis=0, return_counts=True)
    assert {tuple(row) for row in drawn} <= possible
    if len(possible) < 9:  # each is left out with probability below 1e-14, however often it is in the data
        assert len(drawn) == len(possible) and counts.max() < 4.5 * 300 / len(possible)


def test_images_that_show_the_same_are_all_drawn():
    images = shown(GRID[[0, 0, 5]])
    images[1, 1, 1] = 9
    found = FactorDataset(images, GRID[[0, 0, 5]], NAMES, SIZES).sample(4000, random_state=0)
    marked, other = (found.images[:, 1, 1, 0] == 9).mean(), (found.factors == GRID[5]).all(1).mean()
    assert marked == pytest.approx(0.25, abs=0.03) and other == pytest.approx(0.5, abs=0.03)


def test_images_are_never_copied_and_may_lie_on_disk_or_be_rendered(tmp_path):
    images, path = shown(GRID), tmp_path / "images.npy"
    np.save(path, images)
    on_disk = np.load(path, mmap_mode="r")
    drawn = []
    for source in (images, on_disk, Renderer()):
        data = FactorDataset(source, GRID, NAMES, SIZES)
        assert data.images is source and len(data) == 24 and np.shares_memory(data.factors, GRID)
        assert isinstance(source, Renderer) or np.shares_memory(data.images, source)
        drawn.append(data.sample(10, {"place": 3}, random_state=0))
        assert type(drawn[-1].images) is np.ndarray
        np.testing.assert_array_equal(data.render(GRID[[5, 1]]), images[[5, 1]])
    for other in drawn[1:]:
        np.testing.assert_array_equal(other.images, drawn[0].images)


def test_a_data_set_is_a_function_of_its_seed_is_not_changed_and_survives_a_pickle():
    factors = GRID.copy()
    data = FactorDataset(shown(GRID), factors, list(NAMES), list(SIZES))
    with pytest.raises(ValueError, match="read-only"):
        data.factors[0] = 1
    factors[0] = 0  # the caller's own array stays as it was
    first, again, other = (data.sample(20, random_state=seed).factors for seed in (0, 0, 1))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    copy = pickle.loads(pickle.dumps(data))
    assert np.array_equal(copy.sample(20, random_state=0).factors, first) and copy.names == NAMES


@pytest.mark.parametrize("score", [factor_vae_score, beta_vae_score])
def test_scores_that_hold_factors_still_take_the_renderer_or_arrays(score):
    data = FactorDataset(Renderer(), GRID, NAMES, SIZES)
    votes = {"n_train": 300, "n_eval": 300}
    assert score(data.factors, read, generator=data.render, **votes) == 1.0
    sampled = data.sample(500, random_state=0)
    assert score(sampled.factors, read(sampled.images), **votes) == 1.0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"images": shown(GRID)[0]}, "`images` must have the shape .*, got \\(2, 2, 1\\)"),
        ({"images": shown(GRID)[:0]}, "`images` must have the shape"),
        ({"images": shown(GRID).astype(int)}, "`images` must be bytes .* got int64"),
        ({"images": [[0]]}, "`images` must be an array or index like one, got list"),
        ({"factors": GRID[:5]}, r"`factors` must have the shape .* = \(24, 3\) .*, got \(5, 3\) and 3"),
        ({"sizes": (2, 3)}, "got .* and 2"),
        ({"factors": GRID / 2}, "`factors` must be integers, got float64"),
        ({"factors": GRID - 1}, "`factors` must be from 0 to 1 for shape, got values from -1 to 0"),
        ({"sizes": (2, 3, 3)}, "`factors` must be from 0 to 2 for place, got values from 0 to 3"),
        ({"sizes": (2, 0, 4)}, "`sizes` must be integers of at least 1"),
        ({"sizes": (2**30, 2**30, 8)}, "product below"),
        ({"names": ("shape", "shape", "place")}, "`names` must be different"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_data_that_do_not_agree_are_named(wrong, message):
    given = {"images": shown(GRID), "factors": GRID, "names": NAMES, "sizes": SIZES}
    with pytest.raises((ValueError, TypeError), match=message):
        FactorDataset(**given | wrong)


@pytest.mark.parametrize(
    ("fixed", "message"),
    [
        ({"colour": 0}, "`fixed` must name factors among .*, got 'colour'"),
        ({3: 0}, "`fixed` must name factors among .*, got 3"),
        ({"shade": 3}, "`fixed` must be values that occur, got shade=3"),
        ({"shape": 1, "place": 3}, "`fixed` must be a combination that has an image, got .*'place': 3"),
    ],
    ids=str,
)
def test_what_cannot_be_held_still_is_named(fixed, message):
    data = FactorDataset(shown(GRID[:23]), GRID[:23], NAMES, SIZES)
    some = FactorDataset(shown(GRID[:15]), GRID[:15], NAMES, SIZES)
    with pytest.raises(ValueError, match=message):
        (some if len(fixed) > 1 else data).sample(5, fixed)


@pytest.mark.parametrize("missing", [[1, 2, 3], [2, 0, 0], [-1, 0, 0], [0, 0.5, 0]], ids=str)
def test_only_combinations_with_an_image_are_rendered(missing):
    data = FactorDataset(shown(GRID[:23]), GRID[:23], NAMES, SIZES)
    with pytest.raises(ValueError, match="`factors` must be combinations that have an image, got "):
        data.render([[0, 0, 0], missing])
    with pytest.raises(ValueError, match="`factors` must have one column for each of"):
        data.render([0, 0, 0])
    with pytest.raises(ValueError, match="`n` must be an integer of at least 1, got 0"):
        data.sample(0)
