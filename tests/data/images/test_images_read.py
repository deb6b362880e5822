import io
import json
import zipfile

import numpy as np
import pytest
import torch
from PIL import Image

from unmix.data import FactorDataset, load_factors, read_images, shapes3d, write_images
from unmix.data.images import are_images

RNG = np.random.default_rng(0)


def pixels(*shape):
    return RNG.integers(256, size=shape, dtype=np.uint8)


def save_pictures(folder, images, suffix=".png"):
    folder.mkdir(parents=True, exist_ok=True)
    for k, image in enumerate(images):
        Image.fromarray(image[..., 0] if image.shape[-1] == 1 else image).save(folder / f"{k:06}{suffix}")
    return folder


# ------------------------------------------------------------------------------------------- public layouts
def shapes3d_file(path, n=40):
    h5py = pytest.importorskip("h5py")
    factors = np.stack([RNG.integers(size, size=n) for size in (10, 10, 10, 8, 4, 15)], axis=1)
    values = [
        0.1 * factors[:, :3],
        0.75 + factors[:, 3:4] * 0.5 / 7,
        factors[:, 4:5],
        -30 + factors[:, 5:] * 60 / 14,
    ]
    images = pixels(n, 64, 64, 3)
    with h5py.File(path, "w") as file:
        file.create_dataset("images", data=images, chunks=(8, 64, 64, 3), compression="gzip")
        file.create_dataset("labels", data=np.concatenate(values, axis=1))
    return images, factors


def test_shapes3d_in_its_own_layout(tmp_path):
    images, factors = shapes3d_file(tmp_path / "3dshapes.h5")
    data = load_factors(tmp_path / "3dshapes.h5")
    assert data.names[0] == "floor_hue" and data.sizes == (10, 10, 10, 8, 4, 15)
    np.testing.assert_array_equal(data.factors, factors)
    np.testing.assert_array_equal(data.images[[7, 3, 7]], images[[7, 3, 7]])
    np.testing.assert_array_equal(data.images.rendered(slice(5, 30), "cpu"), images[5:30])


def dsprites_file(path, n=50):
    bits = RNG.integers(2, size=(n, 64, 64), dtype=np.uint8)
    classes = np.stack([RNG.integers(size, size=n) for size in (1, 3, 6, 40, 32, 32)], axis=1)
    about = np.array({"never": "opened"}, dtype=object)  # the public file holds a pickle of this kind
    np.savez_compressed(
        path, imgs=bits, latents_classes=classes, latents_values=1.0 * classes, metadata=about
    )
    return bits, classes


def test_dsprites_in_its_own_layout(tmp_path):
    bits, classes = dsprites_file(tmp_path / "dsprites.npz")
    data = load_factors(tmp_path / "dsprites.npz")
    np.testing.assert_array_equal(data.factors, classes[:, 1:])
    np.testing.assert_array_equal(data.images[:][..., 0], 255 * bits)
    assert data.names == ("shape", "scale", "orientation", "pos_x", "pos_y")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("k", [4, 6])
def test_mpi3d_in_its_own_layout(tmp_path, save, k):
    n = k * k * 2 * 3 * 3 * 40 * 40
    images = (np.arange(3 * n) % 251).astype(np.uint8).reshape(n, 1, 1, 3)
    save(tmp_path / "mpi3d_real.npz", images=images)
    data = load_factors(tmp_path / "mpi3d_real.npz")
    assert data.sizes == (k, k, 2, 3, 3, 40, 40) and len(data) == n
    np.testing.assert_array_equal(data.images[n - 5 :], images[n - 5 :])
    wanted = [[1, 2, 1, 0, 2, 7, 39]]
    row = np.ravel_multi_index(tuple(wanted[0]), data.sizes)
    np.testing.assert_array_equal(data.render(wanted), images[[row]])


def cars3d_files(folder, n=3, side=128):
    from scipy.io import savemat

    meshes = [pixels(side, side, 3, 24, 4) for _ in range(n)]
    for k, mesh in enumerate(meshes):
        savemat(folder / f"car_{k + 1:03d}_mesh.mat", {"im": mesh})
    return meshes


def test_cars3d_in_its_own_layout(tmp_path):
    meshes = cars3d_files(tmp_path)
    data = load_factors(tmp_path)
    assert data.names == ("elevation", "azimuth", "object_type") and data.sizes == (4, 24, 3)
    np.testing.assert_array_equal(data.render([[3, 20, 1]])[0], meshes[1][..., 20, 3])
    assert load_factors(tmp_path, size=64).images.shape == (288, 64, 64, 3)


def labelled_folder(folder, labels, sizes, n=60):
    images = pixels(n, 16, 16, 3)
    save_pictures(folder / "images", images)
    factors = np.stack([RNG.permutation(np.arange(n) % size) for size in sizes], axis=1)
    with (folder / labels).open("wb") as file:
        np.save(file, factors / np.array(sizes))  # values between 0 and 1
    return images, factors


@pytest.mark.parametrize(
    "labels, sizes, first",
    [
        ("train-rec.labels", (5, 6, 6, 6, 6, 6, 6), "lighting_intensity"),
        ("labels.npy", (3, 8, 5, 4, 4, 4, 6, 4, 4), "object_shape"),
    ],
)
def test_falcor3d_and_isaac3d_in_their_own_layouts(tmp_path, labels, sizes, first):
    images, factors = labelled_folder(tmp_path, labels, sizes)
    data = load_factors(tmp_path)
    assert data.sizes == sizes and data.names[0] == first
    np.testing.assert_array_equal(data.factors, factors)
    np.testing.assert_array_equal(data.images[[40, 2]], images[[40, 2]])
    assert are_images(tmp_path)


# ---------------------------------------------------------------------------------------------- our folders
def test_a_set_comes_back_from_its_folder(tmp_path):
    data = shapes3d(30, size=16, random_state=0)
    folder = write_images(tmp_path / "shapes", data, source="twin")
    found = read_images(folder)
    assert isinstance(found.images, np.memmap) and found.names == data.names and found.sizes == data.sizes
    np.testing.assert_array_equal(found.images, data.images[:])
    np.testing.assert_array_equal(found.factors, data.factors)


def test_a_folder_is_replaced_only_where_that_is_wanted_and_never_half_written(tmp_path):
    data = shapes3d(4, size=16, random_state=0)
    folder = write_images(tmp_path / "shapes", data)
    with pytest.raises(ValueError, match="force=True"):
        write_images(folder, data)
    write_images(folder, shapes3d(6, size=16, random_state=0), force=True)
    assert len(read_images(folder)) == 6

    class Broken:
        shape, dtype = (4, 16, 16, 3), np.dtype(np.uint8)

        def __len__(self):
            return 4

        def __getitem__(self, rows):
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        write_images(folder, FactorDataset(Broken(), data.factors, data.names, data.sizes), force=True)
    assert len(read_images(folder)) == 6 and [file.name for file in tmp_path.iterdir()] == ["shapes"]


def test_a_folder_of_something_else_is_never_replaced(tmp_path):
    (tmp_path / "thesis.txt").write_text("important")
    with pytest.raises(ValueError, match="Choose another name"):
        write_images(tmp_path, shapes3d(2, size=16, random_state=0), force=True)
    assert (tmp_path / "thesis.txt").exists()


@pytest.mark.parametrize(
    "file, text, words",
    [
        ("factors.csv", "floor_hue\n1\n", "must have the columns"),
        ("images.json", "[]", "must give names and sizes"),
        ("images.json", "{", "whole JSON"),
    ],
)
def test_a_folder_that_was_tampered_with_is_refused(tmp_path, file, text, words):
    folder = write_images(tmp_path / "shapes", shapes3d(4, size=16, random_state=0))
    (folder / file).write_text(text)
    with pytest.raises(ValueError, match=words):
        read_images(folder)


def test_a_folder_without_its_factors_says_so(tmp_path):
    folder = write_images(tmp_path / "shapes", shapes3d(4, size=16, random_state=0))
    (folder / "factors.csv").unlink()
    with pytest.raises(ValueError, match=r"factors.csv` must be there"):
        read_images(folder)


def test_factors_that_do_not_match_the_images_are_refused(tmp_path):
    folder = write_images(tmp_path / "shapes", shapes3d(4, size=16, random_state=0))
    lines = (folder / "factors.csv").read_text().splitlines()
    (folder / "factors.csv").write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(
        ValueError,
        match=r"^`[^`]*factors.csv` must match the files beside it. \(`factors` must have the shape",
    ):
        read_images(folder)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("sizes", [10, 10, 10, 8, 4, 1], r"factors.csv` .*`factors` must be from 0 to 0 for orientation"),
        ("sizes", [10, 10, 10, 8, 4, "many"], r"images.json` .*`sizes` must be integers"),
        ("names", None, r"images.npy` .*`images` must have the shape"),
    ],
)
def test_parts_of_a_folder_that_do_not_match_are_told_by_file(tmp_path, key, value, words):
    folder = write_images(tmp_path / "shapes", shapes3d(30, size=16, random_state=0))
    about = json.loads((folder / "images.json").read_text())
    (folder / "images.json").write_text(json.dumps(about if value is None else about | {key: value}))
    if value is None:
        np.save(folder / "images.npy", pixels(30, 16, 16))
    with pytest.raises(ValueError, match=f"^`[^`]*{words}"):
        read_images(folder)


# -------------------------------------------------------------------------------------- pictures and arrays
@pytest.mark.parametrize("channels", [1, 3])
def test_pictures_are_read_in_order_of_their_names(tmp_path, channels):
    images = pixels(7, 12, 10, channels)
    data = read_images(save_pictures(tmp_path / "pictures", images))
    assert data.names == () and data.images.shape == images.shape
    np.testing.assert_array_equal(data.images[:], images)
    np.testing.assert_array_equal(np.asarray(data.images), images)
    np.testing.assert_array_equal(data.images[3, 2:4, ..., 0], images[3, 2:4, ..., 0])


def test_jpeg_pictures_are_about_what_was_saved(tmp_path):
    smooth = np.broadcast_to(np.linspace(0, 255, 16).astype(np.uint8)[:, None, None], (3, 16, 16, 3))
    found = read_images(save_pictures(tmp_path / "p", smooth, ".jpg")).images[:]
    assert np.abs(found.astype(int) - smooth).mean() < 4


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_an_npz_file_are_mapped(tmp_path, save, order):
    images = np.asarray(pixels(9, 8, 8, 3), order=order)
    save(tmp_path / "some.npz", images=images, other=np.arange(3))
    data = read_images(tmp_path / "some.npz")
    assert isinstance(data.images, np.memmap)
    np.testing.assert_array_equal(data.images, images)
    assert are_images(tmp_path / "some.npz")


def test_images_are_scaled_when_they_are_read(tmp_path):
    np.save(tmp_path / "x.npy", np.repeat(np.repeat(pixels(5, 16, 16, 1), 4, 1), 4, 2))
    data = read_images(tmp_path / "x.npy", size=16)
    assert data.images.shape == (5, 16, 16, 1)
    whole = np.load(tmp_path / "x.npy")[:, ::4, ::4]
    assert np.corrcoef(data.images[:].ravel(), whole.ravel())[0, 1] > 0.95
    assert data.images.rendered(slice(None), "cpu").dtype == torch.uint8


def test_images_alone_can_be_sampled(tmp_path):
    np.save(tmp_path / "x.npy", pixels(5, 8, 8, 3))
    assert read_images(tmp_path / "x.npy").sample(7, random_state=0).images.shape == (7, 8, 8, 3)


def test_tables_are_no_images(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((5, 3)))
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    np.savez(tmp_path / "x.npz", x=np.zeros((5, 3)))
    assert not any(are_images(tmp_path / name) for name in ("x.npy", "x.csv", "x.npz", "none.npy", "."))


# ------------------------------------------------------------------------------------------------ bad input
def test_pictures_of_mixed_sizes_or_kinds_are_refused(tmp_path):
    folder = save_pictures(tmp_path / "p", pixels(3, 8, 8, 3))
    Image.fromarray(pixels(9, 8, 3)).save(folder / "x.png")
    with pytest.raises(
        ValueError, match=r"one size and kind, 000000.png is 8 x 8 colour and x.png 8 x 9 colour"
    ):
        read_images(folder)
    Image.fromarray(pixels(8, 8)).save(folder / "x.png")
    with pytest.raises(ValueError, match=r"x.png 8 x 8 grey"):
        read_images(folder)


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
def test_a_picture_that_is_cut_off_is_named(tmp_path, suffix):
    folder = save_pictures(tmp_path / "p", pixels(3, 32, 32, 3), suffix)
    file = folder / f"000001{suffix}"
    file.write_bytes(file.read_bytes()[:-200])
    with pytest.raises(ValueError, match=r"000001.* must be a whole image file"):
        read_images(folder)


def test_what_a_camera_appends_to_a_jpeg_file_does_no_harm(tmp_path):
    folder = save_pictures(tmp_path / "p", pixels(3, 32, 32, 3), ".jpg")
    before = read_images(folder).images[:]
    file = folder / "000001.jpg"
    whole = file.read_bytes()
    file.write_bytes(whole + bytes(300))
    np.testing.assert_array_equal(read_images(folder).images[:], before)
    file.write_bytes(whole[:-200] + bytes(300))
    with pytest.raises(ValueError, match=r"000001.* must be a whole image file"):
        read_images(folder)


def test_arrays_that_are_missing_are_named(tmp_path):
    np.savez(tmp_path / "x.npz", imgs=np.zeros((4, 8, 8), np.uint8))
    with pytest.raises(ValueError, match="must hold `latents_classes` beside `imgs`"):
        read_images(tmp_path / "x.npz")
    (tmp_path / "cars").mkdir()
    from scipy.io import savemat

    savemat(tmp_path / "cars" / "car_001_mesh.mat", {"other": np.zeros((2, 2))})
    with pytest.raises(ValueError, match="must have an array `im`, got none of that name"):
        read_images(tmp_path / "cars")


@pytest.mark.parametrize("make", [shapes3d_file, dsprites_file], ids=["h5", "npz"])
def test_files_that_are_cut_off_are_named(tmp_path, make):
    path = tmp_path / ("x.h5" if make is shapes3d_file else "x.npz")
    make(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ValueError, match=f"{path.name}` must be a whole"):
        load_factors(path)


def test_an_hdf5_file_with_damaged_pixels_is_named_when_they_are_read(tmp_path):
    shapes3d_file(tmp_path / "x.h5")
    content = bytearray((tmp_path / "x.h5").read_bytes())
    middle = len(content) // 2
    content[middle : middle + 5000] = bytes(5000)
    (tmp_path / "x.h5").write_bytes(content)
    data = load_factors(tmp_path / "x.h5")
    with pytest.raises(ValueError, match=r"x.h5` must be a whole HDF5 file"):
        data.images[:]


def test_an_npy_file_that_is_cut_off_or_pickled_is_named(tmp_path):
    np.save(tmp_path / "x.npy", pixels(9, 8, 8, 3))
    (tmp_path / "x.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-50])
    with pytest.raises(ValueError, match="must be a whole NPY"):
        read_images(tmp_path / "x.npy")
    np.save(tmp_path / "y.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="must be a whole NPY"):
        read_images(tmp_path / "y.npy")


def test_an_array_shorter_than_it_says_is_refused(tmp_path):
    stream = io.BytesIO()
    np.save(stream, pixels(9, 8, 8, 3))
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("images.npy", stream.getvalue()[:-100])
    with pytest.raises(ValueError, match=r"entries|its header tells"):
        read_images(tmp_path / "x.npz")


def test_labels_that_do_not_match_are_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    shapes3d_file(tmp_path / "x.h5")
    with h5py.File(tmp_path / "x.h5", "r+") as file:
        file["labels"][3, 3] = 0.8
    with pytest.raises(ValueError, match="others for scale"):
        load_factors(tmp_path / "x.h5")
    with h5py.File(tmp_path / "y.h5", "w") as file:
        file["images"], file["labels"] = pixels(5, 8, 8, 3), np.zeros((4, 6))
    with pytest.raises(
        ValueError, match=r"^`[^`]*` must have one row of factors for each of 5 images, got 4"
    ):
        load_factors(tmp_path / "y.h5")
    with h5py.File(tmp_path / "z.h5", "w") as file:
        file["images"], file["labels"] = pixels(5, 8, 8, 1), np.zeros((5, 6))
    with pytest.raises(ValueError, match=r"must have `images` of bytes, of shape \(n, h, w, 3\), got uint8"):
        load_factors(tmp_path / "z.h5")
    labelled_folder(tmp_path / "f", "train-rec.labels", (5, 6, 6, 6, 6, 6, 6))
    (tmp_path / "f" / "images" / "000003.png").unlink()
    with pytest.raises(ValueError, match="59 images"):
        load_factors(tmp_path / "f")
    labelled_folder(tmp_path / "g", "labels.npy", (4, 8, 5, 4, 4, 4, 6, 4, 4))
    with pytest.raises(ValueError, match="at most 3 values of object_shape, got 4"):
        load_factors(tmp_path / "g")


@pytest.mark.parametrize("label", [np.nan, 7.0])
def test_labels_that_are_missing_or_unknown_are_refused_by_file_and_factor(tmp_path, label):
    h5py = pytest.importorskip("h5py")
    shapes3d_file(tmp_path / "x.h5")
    with h5py.File(tmp_path / "x.h5", "r+") as file:
        file["labels"][3, 4] = label
    with pytest.raises(
        ValueError, match=r"x.h5` must have the values of Shapes3D as labels, got others for shape"
    ):
        load_factors(tmp_path / "x.h5")


def test_classes_of_dsprites_that_are_unknown_are_refused_by_file_and_factor(tmp_path):
    bits, classes = dsprites_file(tmp_path / "x.npz")
    classes[3, 1] = 9
    np.savez(tmp_path / "x.npz", imgs=bits, latents_classes=classes)
    with pytest.raises(
        ValueError, match=r"x.npz` must have `latents_classes` from 0 to 2 for shape, got 0 to 9"
    ):
        load_factors(tmp_path / "x.npz")


def test_pixels_of_dsprites_that_are_neither_0_nor_1_are_refused_and_never_wrapped(tmp_path):
    bits, classes = dsprites_file(tmp_path / "x.npz")
    np.savez(tmp_path / "x.npz", imgs=255 * bits, latents_classes=classes)
    words = r"x.npz` must have `imgs` of 0 and 1, as dSprites has, got 255. Divide pixels"
    with pytest.raises(ValueError, match=words):
        load_factors(tmp_path / "x.npz")
    bits, classes = np.resize(bits, (700, 64, 64)), np.resize(classes, (700, 6))
    bits[650] = 2  # behind those that are looked at when the file is opened
    np.savez(tmp_path / "y.npz", imgs=bits, latents_classes=classes)
    images = load_factors(tmp_path / "y.npz").images
    np.testing.assert_array_equal(images[640:650, ..., 0], 255 * bits[640:650])
    for read in (lambda: images[650], lambda: np.asarray(images), lambda: images.rendered([650], "cpu")):
        with pytest.raises(ValueError, match=r"y.npz` must have `imgs` of 0 and 1.* got 2"):
            read()


def test_an_hdf5_file_of_something_else_is_told_by_what_it_holds(tmp_path):
    h5py = pytest.importorskip("h5py")
    for name, held in (("x.h5", {}), ("y.h5", {"pixels": pixels(5, 8, 8, 3), "labels": np.zeros((5, 6))})):
        with h5py.File(tmp_path / name, "w") as file:
            for key, value in held.items():
                file[key] = value
        got = "labels, pixels" if held else "nothing"
        words = f"{name}` must hold the arrays `images` and `labels` of Shapes3D, got {got}"
        with pytest.raises(ValueError, match=words):
            read_images(tmp_path / name)
    with h5py.File(tmp_path / "z.h5", "w") as file:
        file.create_group("images")
        file["labels"] = np.zeros((5, 6))
    with pytest.raises(ValueError, match=r"z.h5` must hold the arrays"):
        read_images(tmp_path / "z.h5")


def test_pictures_beside_labels_are_in_order_of_their_numbers(tmp_path):
    images, _ = labelled_folder(tmp_path, "labels.npy", (3, 8, 5, 4, 4, 4, 6, 4, 4))
    folder = tmp_path / "images"
    for file in folder.iterdir():
        file.rename(folder / f"{int(file.stem)}.png")  # 10.png comes before 2.png by name
    np.testing.assert_array_equal(load_factors(tmp_path).images[:], images)
    (folder / "10.png").rename(folder / "99.png")
    with pytest.raises(ValueError, match="named by the numbers 0 to 59, got none of number 10"):
        load_factors(tmp_path)


def test_labels_that_are_no_numbers_are_refused(tmp_path):
    _, factors = labelled_folder(tmp_path, "labels.npy", (2, 8, 5, 4, 4, 4, 6, 4, 4))
    np.save(tmp_path / "labels.npy", np.where(np.arange(9) + factors[:, :1] == 0, np.nan, factors))
    with pytest.raises(ValueError, match="a number for each factor of each image, got NaN"):
        load_factors(tmp_path)


@pytest.mark.parametrize(
    "shape, words",
    [
        ((5, 8, 8), "Give grey images one"),
        ((5, 3, 8, 8), "Move the channels"),
        ((5, 8, 8, 2), "grey or colour"),
    ],
)
def test_arrays_that_are_no_images_are_refused(tmp_path, shape, words):
    np.save(tmp_path / "x.npy", pixels(*shape))
    with pytest.raises(ValueError, match=words):
        read_images(tmp_path / "x.npy")


def test_paths_that_lead_nowhere_are_refused(tmp_path):
    (tmp_path / "x.gif").write_text("")
    for path, words in (("no", "exists"), ("x.gif", "NPY, NPZ or HDF5"), (".", "folder of images")):
        with pytest.raises(ValueError, match=words):
            read_images(tmp_path / path)
    with pytest.raises(ValueError, match="`size`"):
        read_images(tmp_path, size=20)
