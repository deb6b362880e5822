"""Sparse autoencoders in the commands: compared, judged and shown, in any layout."""

import json

import numpy as np
import pytest

import unmix as library
from unmix.estimators import SparseAutoencoder, fit_many, save_sae
from unmix.metrics import replicate_features


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("saes")
    rng = np.random.default_rng(0)
    x = ((rng.random((500, 9)) < 0.2) * rng.gamma(2, size=(500, 9)) @ rng.normal(size=(9, 6))).astype("f4")
    np.save(place / "x.npy", x)
    settings = {"k": 2, "max_iter": 4, "batch_size": 100, "lr": 0.01}
    one, two = fit_many([SparseAutoencoder(m, random_state=m, **settings) for m in (9, 12)], x)
    one.save(place / "one.unmix")
    save_sae(two, place / "two", layout="sae_lens")
    return place


def test_compare_names_each_feature_by_atoms_and_by_codes(folder, unmix_json):
    document = unmix_json("compare", folder / "one.unmix", folder / "two", "--data", folder / "x.npy")
    found = document["features"]
    assert (found["names"], found["sizes"]) == (["one.unmix", "two"], [9, 12])
    assert len(found["features"]) == 9
    assert found["features"][0]["codes"][0]["run"] == "two"
    assert found["levels"][0]["best"]["untrained"] is not None
    assert "the seed of two is not known" in found["notes"][-1]  # a folder of another program holds none
    assert len(document["trust"]["one.unmix"]["probability"]) == 9


def test_compare_without_data_compares_dictionaries_alone(folder, unmix_json):
    from unmix.estimators import load_sae

    document = unmix_json("compare", folder / "two", folder / "one.unmix")
    atoms = [load_sae(folder / name).dictionary_ for name in ("two", "one.unmix")]
    here = replicate_features(atoms)
    assert [feature["atoms"][0]["status"] for feature in document["features"]["features"]] == here.atoms[
        0
    ].status.tolist()
    assert document["features"]["codes"] is None
    assert document["trust"] is None


def test_report_writes_a_page_of_features(folder, tmp_path, unmix_json):
    out = tmp_path / "page.html"
    document = unmix_json("report", folder / "two", "--data", folder / "x.npy", "--out", out)
    assert document["trust"]["kind"] == "dictionary"
    assert "Feature 11" in out.read_text()
    pages = [tmp_path / "c.html", tmp_path / "d.html"]
    unmix_json("compare", folder / "two", folder / "one.unmix", "--out", pages[0])
    both = (folder / "two", folder / "one.unmix", "--data", folder / "x.npy")
    unmix_json("compare", *both, "--out", pages[1])
    assert "Feature by feature" in pages[0].read_text()
    assert "Feature 11" in pages[1].read_text()


def test_trust_judges_features(folder, unmix_json):
    document = unmix_json("trust", folder / "one.unmix", folder / "x.npy", "--effort", "none")
    assert len(document["probability"]) == 9
    assert json.dumps(document["evidence"])


def test_data_of_another_site_are_refused(folder, tmp_path, unmix):
    np.save(tmp_path / "y.npy", np.random.default_rng(0).normal(size=(50, 5)))
    out = tmp_path / "p.html"
    result = unmix("report", folder / "two", "--data", tmp_path / "y.npy", "--out", out)
    assert result.code == 2
    assert "unmix: error: `--data` must have the 6 columns that the model reads, got 5" in result.err
    assert not out.exists()


def test_a_file_is_judged_in_python_as_by_the_command(folder, tmp_path, unmix_json):
    """Rows of ten times the median norm are left out of activations, wherever these are read from a file."""
    x = np.load(folder / "x.npy")
    x[7] = 1000.0
    np.save(tmp_path / "x.npy", x)
    told = unmix_json("trust", folder / "one.unmix", tmp_path / "x.npy", "--effort", "none")
    found = library.trust(library.load(folder / "one.unmix"), tmp_path / "x.npy", effort="none")
    assert told["probability"] == found.probability.tolist()


def test_certify_sends_sparse_autoencoders_to_trust(folder, unmix):
    result = unmix("certify", folder / "one.unmix", "--data", folder / "x.npy")
    assert result.code == 2 and "unmix trust" in result.err
