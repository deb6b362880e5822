"""From a table with names to latents with names, through the commands."""

import gzip
import json

import numpy as np
import pytest

from pages import Page

CHANNELS, KINDS = ("ER", "RNA", "Mito"), ("Texture", "Shape", "Size")
PARTS = [f"{part}_{kind}_{c}" for part in ("Cells", "Nuclei") for kind in KINDS for c in CHANNELS]


@pytest.fixture(scope="module")
def plates(tmp_path_factory):
    """A small table of the layout that microscopes give: metadata, then features named by channel."""
    rng = np.random.default_rng(0)
    z = rng.laplace(size=(200, 3))
    channel = np.array([CHANNELS.index(name.rpartition("_")[2]) for name in PARTS])
    x = z[:, channel] * rng.choice([-1, 1], len(PARTS)) + 0.3 * rng.normal(size=(200, len(PARTS)))
    compound = np.where(z[:, 0] > 1, "tunicamycin", "DMSO")
    lines = [",".join(["Metadata_Well", "Metadata_Compound", *PARTS])]
    lines += [",".join([f"w{i}", compound[i], *map(str, row.round(4))]) for i, row in enumerate(x)]
    folder = tmp_path_factory.mktemp("plates")
    (folder / "plates.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    (folder / "sets.json").write_text(json.dumps({"reticulum": [n for n in PARTS if n.endswith("_ER")]}))
    return folder


@pytest.fixture(scope="module")
def model(plates):
    from unmix.cli import main

    with pytest.raises(SystemExit) as left:
        line = f"fit {plates}/plates.csv.gz --n-components 3 --method ica --n-restarts 2 --out {plates}/model"
        main(line.split())
    assert left.value.code == 0
    return plates / "model"


def line_of(text, word):
    return next(line for line in text.splitlines() if line.startswith("z") and word in line)


def test_fit_names_latents_by_channel_and_compound(unmix, plates, tmp_path):
    source, page = plates / "plates.csv.gz", tmp_path / "m.html"
    base = ("fit", source, "--n-components", 3, "--method", "ica", "--id", "Metadata_Well")
    told = unmix(*base, "--out", tmp_path / "m", "--report", page)
    assert told.code == 0 and "What each latent stands for:" in told.out
    assert "_ER" in line_of(told.out, "Metadata_Compound AUROC") and "noise" in line_of(told.out, "AUROC")
    html = page.read_text(encoding="utf-8")
    assert "Which latent moves which group of variables" in html and "tunicamycin" in html and ">ER" in html
    lowest = html.partition("lowest ")[2].partition(";")[0]
    assert lowest.startswith("w") and not Page(html).open
    document = json.loads(unmix(*base, "--out", tmp_path / "n", "--json").out)
    latents = document["description"]["latents"]
    assert len(latents) == 3 and {each["groups"][0]["name"] for each in latents} == {"ER", "RNA", "Mito"}
    assert all(
        each["variables"][0]["name"] == top[0][0]
        for each, top in zip(latents, document["strongest"], strict=True)
    )


@pytest.mark.filterwarnings("ignore")
def test_sparse_basis_has_a_command_and_a_page(unmix, plates, tmp_path):
    base = ("fit", plates / "plates.csv.gz", "--n-components", 3, "--method", "sparse-basis")
    told = unmix(*base, "--out", tmp_path / "m", "--report", tmp_path / "m.html")
    assert told.code == 0 and "SparseBasis:" in told.out and "What each latent stands for:" in told.out
    assert "rests at one value in" in (tmp_path / "m.html").read_text(encoding="utf-8")


def test_report_takes_ids_and_sets(unmix, plates, model, tmp_path):
    line = ("report", model, "--data", plates / "plates.csv.gz", "--out", tmp_path / "r.html")
    assert unmix(*line, "--id", "Metadata_Well", "--variable-sets", plates / "sets.json").code == 0
    page = Page((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert "reticulum" in page.text and "Nuclei 9 variables" not in page.text


def test_certify_tells_names_beside_what_would_be_identified(unmix, plates, model, tmp_path):
    line = ("certify", model, "--data", plates / "plates.csv.gz")
    told = unmix(*line)
    assert told.code == 0 and "_ER" in line_of(told.out, "Metadata_Compound")
    assert json.loads(unmix(*line, "--json").out)["description"]["n_rows"] == 200
    assert unmix(*line, "--out", tmp_path / "c.html").code == 0
    html = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert "What each latent stands for" in html and "Metadata_Compound" in html


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--method ica --weight 2", "`--weight` must be left out for --method ica"),
        ("--method sparse-basis --n-restarts 2", "`--n-restarts` must be left out for --method sparse-basis"),
        ("--method ica --domains Metadata_Compound", "`--domains` must be left out for --method ica"),
        ("--method ica --variable-sets no.json", "`--variable-sets` must be a file that ends in"),
        (
            "--method ica --variable-sets {other}",
            "`--variable-sets` must hold names of columns, such as 'Cells_",
        ),
    ],
)
def test_what_a_method_does_not_have_is_refused_before_any_work(refused, plates, tmp_path, line, words):
    (tmp_path / "other.json").write_text('{"mine": ["p", "q"]}')
    source = plates / "plates.csv.gz"
    refused(tmp_path, ("fit", source, "--n-components", 2, "--out", "m", *line.split()), words)
