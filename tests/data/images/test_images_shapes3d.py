import subprocess
import sys

import numpy as np
import pytest
import torch

from unmix.data import shapes3d

BASE = np.array([0, 5, 2, 4, 0, 7])


def moved(data, **to):
    levels = BASE.copy()
    for name, value in to.items():
        levels[data.names.index(name)] = value
    return data.render(levels[None])[0].astype(int)


def test_all_480_000_images_are_different():
    images = shapes3d(size=16).images
    seen = {hash(image.tobytes()) for k in range(0, 480_000, 20_000) for image in images[k : k + 20_000]}
    assert len(seen) == 480_000


def test_the_public_order_and_values():
    data = shapes3d(size=16)
    assert data.names == ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation")
    assert data.sizes == (10, 10, 10, 8, 4, 15)
    np.testing.assert_array_equal(
        data.factors[[0, 1, 15, 479_999]], [[0] * 6, [0] * 5 + [1], [0] * 4 + [1, 0], [9, 9, 9, 7, 3, 14]]
    )


def test_a_hue_moves_its_own_pixels_and_the_three_hues_all_of_them():
    data = shapes3d(size=32)
    still = moved(data)
    parts = [(moved(data, **{name: 8}) != still).any(-1) for name in data.names[:3]]
    whole = [(np.abs(moved(data, **{name: 8}) - still).max(-1) > 150) for name in data.names[:3]]
    assert np.logical_or.reduce(parts).all()
    assert np.sum(whole, axis=0).max() == 1  # rims are shared, surfaces are not
    floor, wall, thing = (part.sum() for part in whole)
    assert floor > 200 and wall > 200 and thing > 60


def test_larger_scales_cover_more_and_orientations_turn_the_room():
    data = shapes3d(size=32)
    areas = [(moved(data, scale=k, object_hue=8) != moved(data, scale=k)).any(-1).sum() for k in range(8)]
    assert np.all(np.diff(areas) > 0)
    left, right = (moved(data, orientation=k, shape=2) for k in (0, 14))
    assert (left != right).any(-1).mean() > 0.2


@pytest.mark.parametrize("size", [16, 32, 64, 128])
def test_sizes_show_the_same_scene(size):
    data = shapes3d(3, size=size, random_state=1)
    small = data.images[:].reshape(3, 16, size // 16, 16, size // 16, 3).mean((2, 4))
    gap = np.abs(small - shapes3d(3, size=16, random_state=1).images[:])
    assert gap.mean() < 0.6 and gap.max() < 12  # lights are clipped, and rims have fewer rays


def test_rows_are_drawn_alike_one_by_one_in_chunks_and_as_tensors():
    images = shapes3d(1200, size=16, random_state=0).images  # two chunks and a half
    every = images.rendered(slice(None), "cpu")
    assert every.dtype == torch.uint8 and every.shape == images.shape
    np.testing.assert_array_equal(images[7], every[7])
    np.testing.assert_array_equal(images[np.arange(1200) % 7 == 0], every[::7])
    np.testing.assert_array_equal(images[5:9, 2], every[5:9, 2])
    with pytest.raises(IndexError):
        images[1200]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_draws_the_same():
    images = shapes3d(2000, random_state=0).images
    there = images.rendered(slice(None), "cuda")
    assert there.device.type == "cuda"
    gap = np.abs(there.cpu().numpy().astype(int) - images[:])
    assert gap.max() <= 32 and (gap > 1).mean() < 1e-4  # of 16 rays a pixel, one at a rim may fall beside it


@pytest.mark.parametrize("wrong", [{"size": 65}, {"size": True}, {"n_samples": 0}, {"n_samples": 2.5}])
def test_bad_input_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        shapes3d(**wrong)


def test_the_first_image_waits_for_no_import():
    code = """
import sys, unmix
images = unmix.data.shapes3d(size=16).images
before = set(sys.modules)
images[0]
print(len(set(sys.modules) - before))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout.strip() == "0", found
