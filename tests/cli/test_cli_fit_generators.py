"""`unmix fit` of images by generators: domains by the name of a factor, and what is refused."""

import numpy as np
import pytest

from unmix import load
from unmix.data import two_colours, write_images


@pytest.fixture
def digits(tmp_path):
    return write_images(tmp_path / "digits", two_colours(24, size=8, random_state=0))


def test_a_generator_of_two_domains_is_fitted_and_shown_by_commands(digits, tmp_path, unmix):
    asked = ("--method", "cggan", "--domains", "domain", "--n-components", 6, "--max-iter", 1)
    found = unmix("fit", digits, *asked, "--out", tmp_path / "model")
    assert found.code == 0, found.err
    assert "CGGAN: 6 latents of images" in found.out and "None of 6 latents are trusted" in found.out
    model = load(tmp_path / "model")
    assert model.n_domains_ == 2 and model.sample(2, domains=1, random_state=0).dtype == np.uint8
    shown = unmix("show", tmp_path / "model", "--data", digits, "--out", tmp_path / "pictures")
    assert shown.code == 0, shown.err
    assert (tmp_path / "pictures" / "index.html").exists()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("cggan",), "`--domains` must be a factor of the images"),
        (("cggan", "--domains", "weight"), "one of ['domain', 'digit'], got 'weight'"),
        (("gan", "--domains", "domain"), "`--domains` must be left out for gan"),
        (("gan", "--preset", "hsu2023"), "`--preset` must be left out for gan"),
        (("vae", "--domains", "domain"), "`--domains` must be left out for vae"),
    ],
)
def test_what_a_generator_can_not_use_is_refused(digits, tmp_path, refused, asked, said):
    refused(tmp_path, ("fit", "{digits}", "--n-components", 4, "--out", "m", "--method", *asked), said)


def test_a_table_is_no_set_of_images(tmp_path, refused):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,4\n")
    line = ("fit", "{x}", "--n-components", 2, "--out", "m", "--method", "gan")
    refused(tmp_path, line, "`--method gan` must be left out for tables")
