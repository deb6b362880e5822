"""Generators by commands: domains by the name of a factor or in a file, and what is refused."""

import csv
import re
from functools import partial

import numpy as np
import pytest

from unmix import CGGAN, load
from unmix.data import two_colours, write_images
from unmix.nn import conv_encoder, style_discriminator, style_generator

TINY = {
    "decoder": partial(style_generator, widths=(4, 4), style=4),
    "critic": partial(style_discriminator, widths=(4, 4)),
    "encoder": partial(conv_encoder, widths=(4,), dense=(4,)),
}


@pytest.fixture
def digits(tmp_path):
    return write_images(tmp_path / "digits", two_colours(24, size=8, random_state=0))


def test_a_generator_of_two_domains_is_fitted_and_shown_by_commands(digits, tmp_path, unmix):
    asked = ("--method", "cggan", "--domains", "domain", "--n-components", 6, "--max-iter", 1)
    found = unmix("fit", digits, *asked, "--out", tmp_path / "model")
    assert found.code == 0, found.err
    assert "CGGAN: 6 latents of images" in found.out and "None of 6 latents are trusted" in found.out
    assert "2 domains change 3 of 6 latents: z0, z1, z2." in found.out
    look = found.out.strip().splitlines()[-1]
    assert look.endswith(f"unmix show {tmp_path}/model --data {digits} --domains domain --out pictures")
    model = load(tmp_path / "model")
    assert model.n_domains_ == 2 and model.sample(2, domains=1, random_state=0).dtype == np.uint8
    shown = unmix(*look.split()[5:-1], tmp_path / "pictures")
    assert shown.code == 0 and shown.err == "", shown.err
    assert (tmp_path / "pictures" / "index.html").exists()


@pytest.mark.parametrize("method", ["gan", "encdiff"])
def test_a_person_can_watch_a_fit(method, digits, tmp_path, unmix):
    asked = ("--method", method, "--n-components", 4, "--max-iter", 1, "--out", tmp_path / "model")
    found = unmix("fit", digits, *asked, "--samples", tmp_path / "watch")
    assert found.code == 0, found.err
    assert [path.name for path in (tmp_path / "watch").iterdir()] == ["step-000001.png"]


def test_directions_of_a_generator_that_is_there(digits, tmp_path, unmix):
    asked = ("--n-components", 4, "--max-iter", 1)
    made = unmix("fit", digits, "--method", "vae", *asked, "--out", tmp_path / "vae")
    assert made.code == 0, made.err
    line = ("--method", "disco", *asked, "--generator", tmp_path / "vae", "--out", tmp_path / "model")
    found = unmix("fit", digits, *line)
    assert found.code == 0 and "DisCo: 4 latents of images" in found.out, found.err
    assert load(tmp_path / "model").directions_.shape == (4, 4)


@pytest.fixture(scope="module")
def coloured(tmp_path_factory):
    """Write images of two domains, and a model of them."""
    folder = tmp_path_factory.mktemp("coloured")
    data = two_colours(24, size=8, random_state=0)
    model = CGGAN(6, n_changing=3, **TINY, max_steps=2, batch_size=8, random_state=0)
    model.fit(np.asarray(data.images), domains=data.factors[:, 0]).save(folder / "model")
    return folder / "model", write_images(folder / "digits", data)


@pytest.fixture
def labelled(coloured, tmp_path):
    """Write the domain of each image into a file."""
    path = tmp_path / "labels.csv"
    with open(coloured[1] / "factors.csv", newline="") as factors:
        path.write_text("\n".join(["domain", *(row["domain"] for row in csv.DictReader(factors))]) + "\n")
    return path


@pytest.mark.parametrize("command", ["trust", "show", "report", "explore"])
@pytest.mark.parametrize("named", ["a factor", "a file"])
def test_domains_of_images_are_told_to_every_command_that_judges(
    command, named, coloured, labelled, tmp_path, unmix
):
    model, digits = coloured
    line = {
        "trust": ("trust", model, digits),
        "show": ("show", model, "--data", digits, "--out", tmp_path / "pictures", "--n", 2, "--steps", 3),
        "report": ("report", model, "--data", digits, "--out", tmp_path / "page.html"),
        "explore": ("explore", model, "--data", digits, "--out", tmp_path / "page.html"),
    }[command]
    found = unmix(*line, "--domains", "domain" if named == "a factor" else labelled)
    assert found.code == 0 and "no verdict" not in found.err, found.err
    assert "None of 6 latents are trusted" in found.out


def test_domains_of_images_in_a_file_are_fitted(coloured, labelled, tmp_path, unmix_json):
    asked = ("--method", "cggan", "--n-components", 6, "--max-iter", 1, "--out", tmp_path / "model")
    told = unmix_json("fit", coloured[1], *asked, "--domains", labelled)
    assert told["domains"] == [0, 1] and told["domain_specific"] == [True] * 3 + [False] * 3


def test_a_page_says_which_latents_change_with_the_domain(coloured, tmp_path, unmix):
    model, digits = coloured
    page = tmp_path / "page.html"
    assert unmix("report", model, "--data", digits, "--domains", "domain", "--out", page).code == 0
    told = page.read_text()
    cards = re.findall(r"<h3>ẑ(\d).*?</h3>", told)
    changing = re.findall(r"<h3>ẑ(\d)(?:(?!</h3>).)*changes with the domain", told)
    assert sorted(cards) == list("012345") and sorted(changing) == list("012")
    assert "3 of 6 latents change with them" in told and ".fit(images, domains=domains)" in told


@pytest.mark.parametrize("domains", ["domain", "2"])
def test_theorems_are_asked_about_a_generator_and_its_images(domains, coloured, unmix):
    model, digits = coloured
    found = unmix("certify", model, "--data", digits, "--domains", domains)
    assert found.code == 0, found.err
    assert "Domains and sparse mixing" in found.out
    assert ("Changes between domains" in found.out) == (domains == "domain")  # a number tells of no image


def test_images_have_no_columns_to_be_named_by(coloured, tmp_path, refused):
    model, digits = map(str, coloured)
    refused(tmp_path, ("certify", model, "--data", digits, "--id", "row"), "`--id` must be left out")


def test_a_generator_has_its_verdict_without_domains_too(coloured, tmp_path, unmix):
    model, digits = coloured
    for line in (
        ("report", model, "--data", digits, "--out", tmp_path / "page.html"),
        ("trust", model, digits),
    ):
        found = unmix(*line, "--effort", "none")
        assert found.code == 0 and "None of 6 latents are trusted" in found.out, found.err


@pytest.mark.parametrize(
    ("domains", "said"),
    [
        (("--domains", "weight"), "one of ['domain', 'digit'], or a file"),
        (("--domains", "short.csv"), "must have one label for each of 24 images, got 2"),
    ],
)
def test_domains_that_are_not_those_of_the_images_are_refused(domains, said, coloured, tmp_path, refused):
    (tmp_path / "short.csv").write_text("domain\na\nb\n")
    refused(tmp_path, ("trust", *map(str, coloured), *domains), said)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("cggan",), "`--domains` must be a factor of the images"),
        (("cggan", "--domains", "weight"), "one of ['domain', 'digit'], or a file"),
        (("gan", "--domains", "domain"), "`--domains` must be left out for GAN"),
        (("gan", "--preset", "hsu2023"), "`--preset` must be left out for gan"),
        (("vae", "--domains", "domain"), "`--domains` must be left out for BetaVAE"),
        (("vae", "--samples", "watch"), "`--samples` must be left out for vae"),
        (("gan", "--generator", "none"), "`--generator` must be left out for gan"),
        (("disco", "--generator", "none"), "`--generator` must be a file that exists"),
    ],
)
def test_what_a_generator_can_not_use_is_refused(digits, tmp_path, refused, asked, said):
    refused(tmp_path, ("fit", "{digits}", "--n-components", 4, "--out", "m", "--method", *asked), said)


def test_a_table_is_no_set_of_images(tmp_path, refused):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,4\n")
    line = ("fit", "{x}", "--n-components", 2, "--out", "m", "--method", "gan")
    refused(tmp_path, line, "`--method gan` must be left out for tables")
    for option in ("--samples", "--generator"):
        line = ("fit", "{x}", "--n-components", 2, "--out", "m", option, "watch")
        refused(tmp_path, line, f"`{option}` must be left out for tables")
