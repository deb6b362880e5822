"""Images on the command line: fit, look, trust, transform and report, and what is refused."""

import numpy as np
import pytest
from PIL import Image

import unmix as package
from models import image_model
from unmix.cli._scored import scored
from unmix.tables import read


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A folder with images of 8 x 8 pixels, a model of them, and one of a table."""
    folder = tmp_path_factory.mktemp("world")
    np.save(folder / "images.npy", image_model(n_images=60, as_bytes=True)[1])
    np.save(folder / "wide.npy", image_model(n_images=30, shape=(8, 16, 1), as_bytes=True)[1])
    np.save(folder / "odd.npy", np.zeros((30, 9, 9, 1), dtype=np.uint8))
    table = np.random.default_rng(0).laplace(size=(100, 3))
    np.save(folder / "table.npy", table)
    package.FastICA(2, random_state=0).fit(table).save(folder / "of_tables")
    return folder


@pytest.fixture(scope="module")
def model(world):
    """An autoencoder with independent components behind it, fitted by the command."""
    out = world / "model"
    asked = ["--method", "ae+ica", "--n-components", "3", "--max-iter", "2", "--seed", "1", "--json"]
    from unmix.cli import main

    with pytest.raises(SystemExit) as left:
        main(["fit", str(world / "images.npy"), *asked, "--out", str(out)])
    assert left.value.code == 0
    return out


def test_a_fit_of_images_is_a_pipeline_in_one_file(world, model):
    fitted, x = package.load(model), np.load(world / "images.npy")
    assert [type(step).__name__ for _, step in fitted.steps] == ["Autoencoder", "FastICA"]
    assert fitted.inverse_transform(fitted.transform(x)).shape == x.shape
    assert fitted.steps[0][1].get_params()["checkpoint"] is None
    assert not (world / "model.checkpoint").exists()


def test_show_from_end_to_end(world, model, unmix_json, unmix, tmp_path):
    asked = (
        "show",
        model,
        "--data",
        world / "images.npy",
        "--out",
        tmp_path / "out",
        "--steps",
        "3",
        "--n",
        "2",
    )
    told = unmix_json(*asked)
    there = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert sorted(told["files"]) == there and told["trust"]["verdicts"] == ["no"] * 3
    with Image.open(tmp_path / "out" / "latent-2.gif") as file:
        assert file.n_frames == 4
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "None of 3 latents are trusted" in page and "Autoencoder then Fast ICA" in page
    again = unmix(*asked)
    assert again.code == 2 and "`--out` must be a new folder" in again.err
    assert unmix(*asked, "--force", "--latents", "1").code == 0
    assert not (tmp_path / "out" / "latent-2.gif").exists()


def test_a_model_of_images_is_judged_reported_and_transformed(world, model, unmix, unmix_json, tmp_path):
    images = world / "images.npy"
    assert unmix_json("trust", model, images, "--effort", "none")["verdicts"] == ["no"] * 3
    told = unmix_json("report", model, "--data", images, "--out", tmp_path / "page.html")
    assert told["trust"]["verdicts"] == ["no"] * 3 and told["bytes"] > 10_000
    assert unmix("transform", model, images, "--out", tmp_path / "z.csv").code == 0
    expected = package.load(model).transform(np.load(images))
    np.testing.assert_allclose(read(tmp_path / "z.csv").values, expected, rtol=1e-5)


def test_images_of_known_factors_are_scored_in_the_report(unmix, unmix_json, tmp_path):
    made = unmix("simulate", "dsprites", "--size", "16", "--n-samples", "256", "--out", tmp_path / "set")
    assert made.code == 0, made.err
    asked = ("--method", "vae", "--n-components", "2", "--max-iter", "1", "--report", tmp_path / "page.html")
    told = unmix_json("fit", tmp_path / "set", *asked, "--out", tmp_path / "model")
    assert told["method"] == "BetaVAE" and told["n_components"] == 2
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "How close to the truth?" in page and "pixel PCA + ICA" in page


def test_codes_of_images_are_scored_beside_components_of_pixels(unmix, unmix_json, tmp_path):
    unmix("simulate", "dsprites", "--size", "16", "--n-samples", "200", "--out", tmp_path / "set")
    factors = read(tmp_path / "set" / "factors.csv").values
    np.save(tmp_path / "z.npy", factors[:, [3, 4]])
    asked = ("evaluate", tmp_path / "set", tmp_path / "z.npy", "--metrics", "mcc,sap")
    told = unmix_json(*asked, "--x", tmp_path / "set")
    assert told["mcc"]["value"] == package.metrics.mcc(factors, factors[:, [3, 4]])
    assert 0 < told["mcc"]["beside"]["pixel PCA + ICA"] < 1 and 0 < told["mcc"]["floor"] < 1
    assert told["sap"]["value"] == unmix_json(*asked)["sap"]["value"]
    table = ("evaluate", tmp_path / "set" / "factors.csv", tmp_path / "z.npy", "--x", tmp_path / "set")
    assert unmix_json(*table)["mcc"]["beside"] == told["mcc"]["beside"]


def test_of_many_images_in_order_all_values_of_every_factor_are_scored(tmp_path, monkeypatch):
    """Every fourth image of a factorial shows one value of a factor of four."""
    monkeypatch.setattr("unmix.cli._scored._IMAGES", 64)
    factors = np.stack(np.unravel_index(np.arange(256), (8, 8, 4)), 1)
    np.save(tmp_path / "factors.npy", factors)
    images = np.random.default_rng(0).integers(0, 256, (256, 4, 4, 1), dtype=np.uint8)
    np.save(tmp_path / "images.npy", images)
    files = [str(tmp_path / name) for name in ("factors.npy", "factors.npy", "images.npy")]
    given, said = scored(*files, 0)
    assert said == "Computed on 64 of 256 rows." and np.array_equal(given["z_true"], given["z_hat"])
    assert [len(np.unique(column)) for column in given["z_true"].T] == [8, 8, 4]


def test_images_to_score_by_must_have_factors_and_as_many_rows(world, unmix, tmp_path):
    Image.fromarray(np.zeros((8, 8), dtype=np.uint8)).save(tmp_path / "a.png")
    np.save(tmp_path / "z.npy", np.eye(5))
    said = unmix("evaluate", tmp_path, tmp_path / "z.npy")
    assert said.code == 2 and "`Z_TRUE` must be images of known factors" in said.err
    said = unmix("evaluate", tmp_path / "z.npy", tmp_path / "z.npy", "--x", world / "images.npy")
    assert said.code == 2 and "must have the same rows, got [5, 5, 60]" in said.err


REFUSED = [
    (
        ("show", "{of_tables}", "--data", "{images}", "--out", "o"),
        "must be a model of images, got one of tables",
    ),
    (
        ("show", "{model}", "--data", "{table}", "--out", "o"),
        "`--data` must have the shape (n_images, height",
    ),
    (("show", "{model}", "--data", "nowhere", "--out", "o"), "`--data` must be a file or folder that exists"),
    (("show", "{model}", "--data", "{wide}", "--out", "o"), "`--data` must have images of shape (8, 8, 1)"),
    (
        ("show", "{model}", "--data", "{images}", "--out", "o", "--steps", "4"),
        "`--steps` must be an odd number",
    ),
    (("show", "{model}", "--data", "{images}", "--out", "o", "--n", "0"), "`--n` must be at least 1"),
    (("show", "{model}", "--data", "{images}", "--out", "o", "--latents", "3"), "`--latents` must hold each"),
    (
        ("show", "{model}", "--data", "{images}", "--out", "o", "--latents", "a"),
        "`--latents` must hold numbers",
    ),
    (
        ("show", "{model}", "--data", "{images}", "--out", "o", "--rows", "0,99"),
        "`--rows` must hold each row",
    ),
    (("show", "{model}", "--data", "{images}", "--out", "a/b"), "`--out` must lie in a folder that exists"),
    (("show", "nowhere", "--data", "{images}", "--out", "o"), "must be a model written by `unmix fit`"),
    (("report", "{model}", "--data", "{images}", "--out", "o.html", "--id", "x"), "`--id` must be left out"),
    (
        ("fit", "{images}", "--n-components", "2", "--out", "o"),
        "`--method` must be one that takes images, ae",
    ),
    (("fit", "{images}", "--method", "ae", "--out", "o"), "`--n-components` must be given for images"),
    (("fit", "{odd}", "--method", "ae", "--n-components", "2", "--out", "o"), "images of even sides"),
    (
        ("fit", "{images}", "--method", "ae", "--n-components", "2", "--domains", "a", "--out", "o"),
        "`--domains`",
    ),
    (("fit", "{table}", "--method", "ae+ica", "--n-components", "2", "--out", "o"), "it is for images"),
    (
        ("fit", "{images}", "--method", "ae", "--n-components", "2", "--preset", "x", "--out", "o"),
        "`--preset`",
    ),
]


@pytest.mark.parametrize(
    ("line", "words"), REFUSED, ids=lambda part: " ".join(part) if isinstance(part, tuple) else ""
)
def test_what_can_not_be_is_told_in_one_line(line, words, world, model, refused):
    refused(world, line, words)
