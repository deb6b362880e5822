"""Pages and folders about models of images: the verdict first, every picture named, every string escaped."""

import base64
import io
import re
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from models import ImageModel, image_model, verdict
from pages import Page, without_ours
from unmix import report
from unmix.data import FactorDataset
from unmix.report import _show

HOSTILE = '<script>alert("x")</script>'
FEW = {"n": 2, "n_steps": 3}
NAMES = ("index.html", "reconstructions.png", "traversals.png", "swaps.png", "jacobian.png")


def page_of(path):
    return Page(path.read_text(encoding="utf-8"))


def pictures_in(page, kind):
    found = [
        value
        for tag, name, value in page.attributes
        if (tag, name) == ("img", "src") and f"image/{kind}" in value
    ]
    return [Image.open(io.BytesIO(base64.b64decode(value.partition("base64,")[2]))) for value in found]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """One page about a model that no theorem speaks about; several tests read it."""
    model, x = image_model(shape=(8, 8, 3))
    folder = tmp_path_factory.mktemp("images")
    return page_of(report.write(folder / "page.html", model=model, data=x, held_out=x[:10], title="Discs"))


def test_the_page_begins_with_the_verdict_in_plain_words(plain):
    assert plain.text.index("None of 3 latents are trusted") < plain.text.index("What the model keeps")
    assert ("section", "class", "verdict stop") in plain.attributes
    assert "No theorem speaks about these latents" in plain.text
    assert "None is trusted, so they are sorted by how much they move" in plain.text


def test_the_page_needs_nothing_else_and_nothing_is_left_open(plain):
    assert not plain.open and "script" not in plain.tags
    policy = next(
        value for tag, _, value in plain.attributes if tag == "meta" and "default-src" in (value or "")
    )
    assert policy.startswith("default-src 'none'") and "img-src data:" in policy
    sources = [value for tag, name, value in plain.attributes if name in ("src", "href")]
    assert all(value.startswith(("data:image/", "#")) for value in sources)
    assert all(any(t == "img" and n == "alt" and v for t, n, v in plain.attributes) for _ in sources)


def test_the_page_shows_a_strip_and_slopes_for_each_latent(plain):
    strips = [image for image in pictures_in(plain, "png")]
    assert len(strips) == 3 + 2 * 3 + 3  # reconstructions, two of each latent, swaps
    (moving,) = pictures_in(plain, "gif")
    assert moving.n_frames == 16
    for name in ("ẑ0", "ẑ1", "ẑ2", "grey levels", "2% to its 98% quantile", "Two images exchange latents"):
        assert name in plain.text


def test_the_strip_of_a_page_frames_the_reconstruction(tmp_path):
    model, x = image_model(shape=(64, 64, 1))
    page = page_of(report.write(tmp_path / "page.html", model=model, data=x))
    strip = np.asarray(pictures_in(page, "png")[3].convert("RGBA")).astype(int)
    gap = (strip.shape[0] - 64) // 2
    left = 4 * (64 + gap)
    assert (strip[0, left : left + 64 + 2 * gap] == (59, 125, 216, 255)).all()
    assert (strip[0, :left, 3] == 0).all()
    row = int(re.search(r"One latent of row (\d+) moves", page.text)[1])
    tile = strip[gap : gap + 64, left + gap : left + gap + 64, :1]
    assert np.abs(tile - 255 * x[row]).max() <= 1


def test_fit_is_told_on_the_images_given_and_on_others(tmp_path, plain):
    assert "On held-out images 100.0%" in plain.text
    model, x = image_model()
    noisy = np.clip(x + np.random.default_rng(0).normal(0, 0.4, x.shape), 0, 1)
    page = page_of(report.write(tmp_path / "page.html", model=model, data=noisy))
    seen = float(re.search(r"Explained ([\d.]+)%", page.text)[1]) / 100
    kept = model.inverse_transform(model.transform(noisy)).clip(0, 1)
    expected = 1 - np.square(noisy - kept).sum() / np.square(noisy - noisy.mean(0)).sum()
    assert seen == pytest.approx(expected, abs=0.001)
    assert f"The model explains only {expected:.0%} of the variance of x. None of 3" in page.text


def test_a_verdict_that_was_given_sorts_the_latents(tmp_path):
    model, x = image_model()
    page = page_of(report.write(tmp_path / "page.html", model=model, data=x, trust=verdict(1, -1, 1)))
    cards = re.findall(r"(ẑ\d) (trusted|not trusted) moves", page.text)
    assert cards == [("ẑ2", "trusted"), ("ẑ0", "trusted"), ("ẑ1", "not trusted")]
    assert "The trusted come first" in page.text and "2 of 3 latents are trusted" in page.text


def test_dead_latents_are_named_in_the_headline_and_on_their_card(tmp_path):
    patterns = image_model()[0].patterns * np.array([1, 1e-4, 1])[:, None, None, None]
    model = ImageModel(patterns)
    x = model.inverse_transform(np.random.default_rng(0).uniform(-0.2, 0.2, (60, 3)))
    page = page_of(report.write(tmp_path / "page.html", model=model, data=x))
    assert "ẑ1 is dead: no pixel moves by more than one grey level" in page.text
    assert "ẑ1 dead moves no pixel" in page.text and "1 dead" in page.text


def test_scores_stand_beside_pixels_floor_and_chance_where_factors_are_known(tmp_path):
    factors = np.random.default_rng(0).integers(0, 5, (300, 3))
    model, _ = image_model()
    x = model.inverse_transform((factors - 2) * 0.08)
    data = FactorDataset(x, factors, ("a", "b", "c"), (5, 5, 5))
    page = page_of(report.write(tmp_path / "page.html", model=model, data=data))
    assert "How close to the truth?" in page.text
    for word in ("this fit 1.000", "pixel PCA + ICA", "rotation floor", "chance", "Modularity (InfoM)"):
        assert word in page.text
    few = FactorDataset(x[:50], factors[:50], ("a", "b", "c"), (5, 5, 5))
    page = page_of(report.write(tmp_path / "few.html", model=model, data=few))
    assert "How close" not in page.text and "too few for scores" in page.text
    alone = FactorDataset(x, np.empty((300, 0), dtype=int), (), ())
    assert "How close" not in page_of(report.write(tmp_path / "a.html", model=model, data=alone)).text


def test_hostile_names_are_escaped_everywhere(tmp_path):
    model, x = image_model()
    ids = [HOSTILE] * len(x)
    files = report.show(
        tmp_path / "out", model=model, data=x, ids=ids, title=HOSTILE, notes=HOSTILE, latents=[0], **FEW
    )
    html = files[0].read_text(encoding="utf-8")
    assert "<script" not in without_ours(html) and "&lt;script&gt;" in html
    assert HOSTILE in Page(html).text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    model, x = image_model(shape=(16, 8, 1), as_bytes=True)
    target = tmp_path_factory.mktemp("show") / "pictures"
    return target, report.show(target, model=model, data=x, n=4, n_steps=5)


def test_show_writes_grids_animations_and_a_page(folder):
    target, files = folder
    animated = ("traversals.gif", "between.gif", "latent-0.gif", "latent-1.gif", "latent-2.gif")
    assert [file.name for file in files] == [*NAMES, *animated]
    assert sorted(target.iterdir()) == sorted(files)
    for file in files[1:]:
        with Image.open(file) as image:
            image.load()
            assert min(image.size) > 100 and getattr(image, "n_frames", 1) == frames_of(file.name)
    assert not page_of(files[0]).open


def frames_of(name):
    return 1 if name.endswith("png") else 16 if name == "between.gif" else 8


def test_show_replaces_its_own_pictures_and_no_other_file(tmp_path):
    model, x = image_model()
    target = tmp_path / "out"
    assert len(report.show(target, model=model, data=x, latents=[0, 1], **FEW)) == 9
    assert len(report.show(target, model=model, data=x, latents=[1], rows=[3, 4], n_steps=3)) == 8
    assert not (target / "latent-0.gif").exists()
    (target / "thesis.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"`folder` must be new, or hold nothing but such pictures.*thesis"):
        report.show(target, model=model, data=x)
    assert (target / "thesis.txt").read_text() == "mine"
    (target / "thesis.txt").unlink()
    (target / "latent-7.gif").mkdir()
    with pytest.raises(ValueError, match="`folder` must be new"):
        report.show(target, model=model, data=x)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_nothing_half_written_is_left_behind(tmp_path, monkeypatch):
    model, x = image_model()
    asked = {"model": model, "data": x, "latents": [0], **FEW}
    before = {file.name: file.read_bytes() for file in report.show(tmp_path / "out", **asked)}

    def broken(*_):
        raise MemoryError

    monkeypatch.setattr(_show, "animations", broken)
    with pytest.raises(MemoryError):
        report.show(tmp_path / "out", **asked)
    assert {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()} == before
    with pytest.raises(MemoryError):
        report.show(tmp_path / "new", **asked)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_same_data_give_the_same_bytes(tmp_path):
    model, x = image_model()
    once, again = (report.show(tmp_path / name, model=model, data=x, latents=[0], **FEW) for name in "ab")
    assert [file.read_bytes() for file in once] == [file.read_bytes() for file in again]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"data": np.zeros((20, 5))}, "`data` must be images of shape .* got shape"),
        ({"data": np.zeros((20, 4, 4, 1))}, r"`data` must be images of shape \(8, 8, 1\), as of the fit"),
        ({"held_out": np.zeros((20, 5))}, "`held_out` must be images"),
        ({"n_steps": 4}, "`n_steps` must be an odd number"),
        ({"n": 0}, "`n` must be at least 1"),
        ({"latents": [7]}, "`latents` must hold each latent once"),
        ({"rows": [0, 99]}, "`rows` must hold each row once"),
        ({"ids": ["a"]}, "`ids` must name each of the 60 images, got 1"),
    ],
)
def test_bad_input_is_refused_before_any_work(asked, words, tmp_path):
    model, x = image_model()
    with pytest.raises(ValueError, match=words):
        report.show(tmp_path / "out", **({"model": model, "data": x} | asked))
    assert not list(tmp_path.iterdir())


def test_a_folder_that_can_not_be_is_refused(tmp_path):
    model, x = image_model()
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="`folder` must be a folder"):
        report.show(tmp_path / "file", model=model, data=x)
    with pytest.raises(ValueError, match="`folder` must lie in a folder that exists"):
        report.show(tmp_path / "no" / "where", model=model, data=x)


def test_images_may_be_a_path(tmp_path):
    model, x = image_model()
    np.save(tmp_path / "x.npy", x)
    page = page_of(report.write(tmp_path / "page.html", model=model, data=tmp_path / "x.npy"))
    assert "60 grey images of 8 × 8 pixels" in page.text


def test_images_may_be_rendered_when_asked_for(tmp_path):
    model, x = image_model(n_images=2000)

    class Lazy:
        shape, dtype = x.shape, x.dtype
        asked = 0

        def __len__(self):
            return len(x)

        def __getitem__(self, rows):
            self.asked = max(self.asked, len(np.atleast_1d(rows)))
            return x[rows]

    lazy = SimpleNamespace(images=Lazy(), factors=np.empty((2000, 0)), names=())
    report.show(tmp_path / "out", model=model, data=lazy, latents=[0], **FEW)
    assert 0 < lazy.images.asked <= 500
