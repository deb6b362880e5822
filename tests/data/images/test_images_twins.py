"""What every twin promises, whatever it shows."""

import numpy as np
import pytest
import torch

from unmix.data import cars3d, dsprites, mpi3d, shapes3d
from unmix.data.images import _cars3d, _mpi3d

SIZES = {
    shapes3d: (10, 10, 10, 8, 4, 15),
    dsprites: (3, 6, 40, 32, 32),
    cars3d: (4, 24, 183),
    mpi3d: (4, 4, 2, 3, 3, 40, 40),
}
TWINS = pytest.mark.parametrize("twin", list(SIZES), ids=lambda twin: twin.__name__)


def different(images):
    return len({image.tobytes() for image in images})


@TWINS
def test_the_whole_is_a_factorial_of_which_nothing_is_drawn(twin):
    data = twin()
    assert data.sizes == SIZES[twin] and len(data) == np.prod(SIZES[twin])
    assert data.images.shape[1:] == (64, 64, 1 if twin is dsprites else 3) and data.images.dtype == np.uint8
    np.testing.assert_array_equal(data.factors[0], 0)
    np.testing.assert_array_equal(data.factors[-1], np.array(data.sizes) - 1)


@TWINS
def test_some_images_are_some_of_all(twin):
    some = twin(12, size=16, random_state=0)
    np.testing.assert_array_equal(some.images[:], twin(size=16).render(some.factors))


@TWINS
def test_one_step_of_any_factor_is_seen(twin):
    whole = twin(size=16)
    rng = np.random.default_rng(0)
    base = np.stack([rng.integers(size - 1, size=12) for size in whole.sizes], axis=1)
    still = whole.render(base).astype(int)
    for j in range(base.shape[1]):
        step = base.copy()
        step[:, j] += 1
        moved = np.abs(whole.render(step) - still).reshape(12, -1)
        assert moved.max(1).min() >= 4, whole.names[j]


@TWINS
def test_random_images_of_different_factors_are_different(twin):
    data = twin(300, size=16, random_state=2)
    assert different(data.images[:]) == len(np.unique(data.factors, axis=0))


def test_the_smallest_squares_of_all_angles_and_places_are_different():
    data = dsprites(size=64)
    squares = data.factors[
        (data.factors[:, 0] == 0) & (data.factors[:, 1] == 0) & (data.factors[:, 4] % 8 == 3)
    ]
    assert different(data.render(squares)) == len(squares) == 40 * 32 * 4


def test_binary_sprites_are_black_or_white_and_as_large_as_the_grey_ones():
    grey, binary = (dsprites(200, binary=b, random_state=0).images[:].astype(float) for b in (False, True))
    assert set(np.unique(binary)) == {0, 255}
    np.testing.assert_allclose(binary.sum((1, 2, 3)), grey.sum((1, 2, 3)), rtol=0.2)
    assert np.abs(binary.sum() / grey.sum() - 1) < 0.02


@pytest.mark.parametrize("size", [16, 32, 64, 128])
def test_sprites_are_whole_and_centred_where_their_factors_say(size):
    corners = [[k, 5, 9, x, y] for k in range(3) for x in (0, 31) for y in (0, 31)]
    ink = dsprites(size=size).render(corners)[..., 0] / 255
    areas = ink.sum((1, 2)) * (64 / size) ** 2
    np.testing.assert_allclose(areas[:4], 18**2, rtol=0.04)
    np.testing.assert_allclose(areas[4:8], np.pi * 13 * 6.5, rtol=0.04)
    at = (np.arange(size) + 0.5) * 64 / size
    x, y = ((ink.sum(axis) * at).sum(1) / ink.sum((1, 2)) for axis in (1, 2))
    np.testing.assert_allclose(x[:8], np.tile([16, 16, 48, 48], 2), atol=0.3)
    np.testing.assert_allclose(y[:8], np.tile([16, 48, 16, 48], 2), atol=0.3)


@pytest.mark.slow
def test_all_cars_are_different():
    images = cars3d(size=16).images
    assert (
        len({hash(image.tobytes()) for k in range(0, 17_568, 183) for image in images[k : k + 183]}) == 17_568
    )


def test_arms_behind_the_post_are_different():
    levels = [[0, kind, 0, height, 0, turn, bend] for kind in (1, 3) for height in range(3)
              for turn in (18, 19, 20, 21) for bend in range(0, 40, 5)]  # fmt: skip
    assert different(mpi3d(size=32).render(levels)) == len(levels)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@TWINS
def test_a_gpu_draws_the_same(twin):
    images = twin(300, random_state=0).images
    there = images.rendered(slice(None), "cuda").cpu().numpy().astype(int)
    assert np.abs(there - images[:]).mean() < 0.05


@pytest.mark.parametrize("twin, scene", [(cars3d, _cars3d), (mpi3d, _mpi3d)], ids=["cars3d", "mpi3d"])
def test_rays_that_are_left_out_meet_nothing(twin, scene, monkeypatch):
    images = twin(30, size=16, random_state=4).images
    few = images[:]
    paint = scene.inside
    monkeypatch.setattr(
        scene, "inside", lambda p, r, reach, *rest: paint(p, r, torch.ones_like(reach), *rest)
    )
    np.testing.assert_array_equal(few, images[:])
