import pickle

import numpy as np
import pytest
import torch

from unmix.data import Balls, balls


@pytest.mark.parametrize("n_balls", [2, 4, 6])
def test_scenes_keep_to_the_protocol(n_balls):
    data = balls(3000, n_balls, random_state=n_balls)
    assert isinstance(data, Balls) and len(data) == 3000
    gaps = np.linalg.norm(data.means[:, None] - data.means, axis=2)[~np.eye(n_balls, dtype=bool)]
    assert gaps.min() > 0.2 and data.means.min() >= 0.3 and data.means.max() <= 0.7
    assert data.positions.min() >= 0.05 and data.positions.max() <= 0.95
    np.testing.assert_array_equal(data.positions == data.means, data.resting)
    np.testing.assert_array_equal(data.factors, np.floor(32 * data.positions.reshape(3000, -1)))
    spread = (data.positions - data.means)[~data.resting].std()
    assert spread == pytest.approx(0.1, rel=0.05) and data.resting.mean() == pytest.approx(0.1, abs=0.02)


def test_coordinates_rest_together_or_apart():
    joined = balls(4000, 2, random_state=0).resting
    apart = balls(4000, 2, together=False, random_state=0).resting
    np.testing.assert_array_equal(joined[..., 0], joined[..., 1])
    assert (apart[..., 0] & apart[..., 1]).mean() == pytest.approx(0.01, abs=0.005)
    assert balls(500, 2, chance=1.0, random_state=0).resting.all()


def test_a_picture_shows_the_balls_where_they_are_and_later_ones_in_front():
    data = balls(200, 2, random_state=3)
    (x, y) = np.floor(data.positions[0, 1] * 64).astype(int)
    assert data.images[0][63 - y, x].tolist() == [0, 255, 0]
    clear = np.abs(data.positions[:, 0] - data.positions[:, 1]).max(1) > 0.21
    whole = (np.abs(data.positions - 0.5) < 0.39).all((1, 2))
    k = int(np.flatnonzero(clear & whole)[0])
    (x, y) = np.floor(data.positions[k, 0] * 64).astype(int)
    assert data.images[k][63 - y, x].tolist() == [255, 0, 0]
    ink = (255 - data.images[clear & whole].astype(float)).sum((1, 2, 3)) / 510  # a ball lacks two colours
    np.testing.assert_allclose(ink, 2 * np.pi * 6.4**2, rtol=0.01)


def test_a_ball_moves_by_less_than_a_pixel_unless_whole_pixels_are_wanted():
    smooth, whole = (balls(50, 2, whole_pixels=w, random_state=1) for w in (False, True))
    np.testing.assert_array_equal(whole.positions * 64, np.round(smooth.positions * 64))
    assert (whole.positions == whole.means)[smooth.resting].all()
    assert len(np.unique(smooth.images[:], axis=0)) == 50


def test_seeds_sizes_and_pickles():
    data = balls(20, 4, size=32, random_state=5)
    same = pickle.loads(pickle.dumps(balls(20, 4, size=32, random_state=5)))
    np.testing.assert_array_equal(data.images[:], same.images[:])
    assert data.images.shape == (20, 32, 32, 3)
    torch.testing.assert_close(
        data.images.rendered([3, 1], "cpu"), torch.from_numpy(data.images[np.array([3, 1])])
    )


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"n_balls": 7}, "at most 6"),
        ({"n_samples": 0}, "n_samples"),
        ({"chance": 1.5}, "chance"),
        ({"size": 50}, "`size` must be one of"),
    ],
)
def test_bad_input_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        balls(**{"n_samples": 5} | wrong)
