"""Images of two domains: digits in two colours, pictures in two styles, a factor as domain."""

import gzip
import struct

import numpy as np
import pytest
from PIL import Image

from unmix.data import domain_of, paired_styles, shapes3d, two_colours


def test_digits_come_in_pairs_that_differ_in_colour_alone():
    data = two_colours(size=8)
    assert data.images.shape == (2 * 1797, 8, 8, 3) and data.images.dtype == np.uint8
    red, blue = data.images[::2].astype(float), data.images[1::2].astype(float)
    assert (data.factors[::2, 0] == 0).all() and (data.factors[1::2, 0] == 1).all()
    np.testing.assert_array_equal(data.factors[::2, 1], data.factors[1::2, 1])
    lit = red.sum(-1) > 100
    np.testing.assert_allclose(
        (red[lit] / [1, 0.25, 0.2]).mean(1), (blue[lit] / [0.2, 0.45, 1]).mean(1), atol=4
    )
    assert red[..., 0].sum() > 2 * red[..., 2].sum() and blue[..., 2].sum() > 2 * blue[..., 0].sum()


def test_digits_at_random_are_a_function_of_the_seed():
    first, second, third = (two_colours(40, size=8, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.images, second.images)
    assert not np.array_equal(first.factors, third.factors) and set(first.factors[:, 0]) == {0, 1}


@pytest.mark.parametrize("zipped", [False, True])
def test_mnist_files_are_read_and_broken_ones_refused(tmp_path, zipped):
    pixels = np.random.default_rng(0).integers(0, 256, (5, 28, 28), dtype=np.uint8)
    kinds = {"images-idx3": struct.pack(">4i", 2051, 5, 28, 28) + pixels.tobytes()}
    kinds["labels-idx1"] = struct.pack(">2i", 2049, 5) + bytes([3, 1, 4, 1, 5])
    write = gzip.open if zipped else open
    for kind, raw in kinds.items():
        with write(tmp_path / f"train-{kind}-ubyte{'.gz' * zipped}", "wb") as file:
            file.write(raw)
    data = two_colours(folder=tmp_path, size=28)
    assert data.factors[::2, 1].tolist() == [3, 1, 4, 1, 5]
    np.testing.assert_array_equal(data.images[::2, ..., 0], pixels)
    with write(tmp_path / f"train-labels-idx1-ubyte{'.gz' * zipped}", "wb") as file:
        file.write(b"no labels at all")
    with pytest.raises(ValueError, match="must be a whole IDX file"):
        two_colours(folder=tmp_path)
    with pytest.raises(ValueError, match="`folder` must hold MNIST's"):
        two_colours(folder=tmp_path / "nothing")


@pytest.fixture
def styles(tmp_path):
    """Three subjects as squares and as frames, on nothing; one more that has no partner."""
    for style in ("full", "frame"):
        (tmp_path / style).mkdir()
        for subject, name in enumerate(("1f600", "1f601", "1f602")):
            pixels = np.zeros((12, 12, 4), dtype=np.uint8)
            pixels[2:10, 2:10] = [80 * subject, 0, 200, 255]
            if style == "frame":
                pixels[4:8, 4:8] = 0
            Image.fromarray(pixels).save(tmp_path / style / f"{name}.png")
    Image.fromarray(np.zeros((12, 12, 3), dtype=np.uint8)).save(tmp_path / "full" / "alone.png")
    return tmp_path


def test_two_styles_are_paired_by_name(styles):
    data = paired_styles(styles / "full", styles / "frame", size=12)
    assert data.images.shape == (6, 12, 12, 3) and data.sizes == (2, 3)
    assert data.factors.tolist() == [[0, 0], [1, 0], [0, 1], [1, 1], [0, 2], [1, 2]]
    full, frame = data.images[::2], data.images[1::2]
    assert (full[:, 0, 0] == 255).all() and (frame[:, 5, 5] == 255).all()  # transparent
    np.testing.assert_array_equal(full[:, 3, 3], frame[:, 3, 3])
    assert paired_styles(styles / "full", styles / "frame", size=6, background=0).images[1, 0, 0, 0] == 0


def test_folders_without_pairs_are_refused(styles, tmp_path):
    (tmp_path / "other").mkdir()
    with pytest.raises(ValueError, match="`second` must have pictures of the same names"):
        paired_styles(styles / "full", tmp_path / "other")
    with pytest.raises(ValueError, match="`first` must be a folder"):
        paired_styles(tmp_path / "nowhere", styles / "full")
    (tmp_path / "other" / "1f600.png").write_bytes(b"no picture")
    with pytest.raises(ValueError, match="must be a whole image file"):
        paired_styles(styles / "full", tmp_path / "other")


def test_a_factor_is_the_domain():
    data = shapes3d(20, size=16, random_state=0)
    np.testing.assert_array_equal(domain_of(data, "shape"), data.factors[:, 4])
    with pytest.raises(ValueError, match="`factor` must be one of"):
        domain_of(data, "weight")
