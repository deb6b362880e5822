"""Tables that people have, by commands: columns, holes, labels, and latents in the user's own format."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from safetensors.numpy import load_file, save_file

import unmix as library
from unmix.tables import Columns, read

FIT = ("--n-components", 2, "--max-iter", 3, "--n-restarts", 1)


@pytest.fixture(scope="module")
def plate(tmp_path_factory):
    """A gzipped table of wells: text, a hole, a constant and a repeated column, and two kinds of labels."""
    rng = np.random.default_rng(0)
    x = rng.laplace(size=(120, 3)) @ rng.normal(size=(3, 5))
    lines = ["Metadata_Well,week,plate,gene,f0,f1,f2,f3,f4,flat,twin"]
    for i, row in enumerate(x):
        cells = [f"{value!r}" for value in row.tolist()]
        if i == 7:
            cells[2] = ""
        lines.append(",".join([f"W{i:03d}", f"w{i % 2}", f"0{i % 3}", "TP53", *cells, "1", cells[0]]))
    path = tmp_path_factory.mktemp("plate") / "wells.csv.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return path


@pytest.fixture(scope="module")
def model(plate):
    return plate.with_name("model")


@pytest.fixture
def fitted(plate, model, unmix):
    if not model.exists():
        result = unmix("fit", plate, *FIT, "--drop", "plate", "--missing", "drop-rows", "--out", model)
        assert result.code == 0, result.err
        assert "Dropped 1 of 120 rows with missing values." in result.err
        assert "Dropped 1 column, constant: 'flat'." in result.err
        assert "Dropped 1 column, a copy of another: 'twin'." in result.err
    return model


def test_holes_are_counted_and_the_way_out_is_named(plate, tmp_path, refused):
    refused(tmp_path, ["fit", str(plate), *FIT, "--out", "m"], "column 'f2' has 1 (1 of 120 rows)")


def test_a_model_remembers_what_was_done_to_its_table(fitted):
    recipe = library.load(fitted).recipe_
    assert recipe.features == ("f0", "f1", "f2", "f3", "f4") and recipe.missing == "drop-rows"
    assert recipe.dropped == {"flat": "constant", "twin": "a copy of another"}


def test_pages_list_what_was_left_out(plate, fitted, tmp_path, unmix):
    assert (
        unmix("report", fitted, "--data", plate, "--notes", "Mine.", "--out", tmp_path / "r.html").code == 0
    )
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    for told in ("Mine.", "Left out (constant): flat.", "Rows with missing values are left out."):
        assert told in page


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "parquet", "feather", "h5ad"])
def test_latents_come_back_beside_ids_and_metadata_row_by_row(suffix, plate, fitted, tmp_path, unmix_json):
    out = tmp_path / f"z.{suffix}"
    told = unmix_json("transform", fitted, plate, "--id", "Metadata_Well", "--out", out)
    assert (told["n_samples"], told["n_components"], told["n_empty"]) == (120, 2, 1)
    obsm = "X_unmix" if suffix == "h5ad" else None
    chosen = Columns(
        id=None if obsm else "Metadata_Well", features=() if obsm else ("z*",), obsm=obsm, missing="drop-rows"
    )
    table = read(out, columns=chosen)
    assert table.kept.tolist() == [i != 7 for i in range(120)]
    assert table.ids.tolist() == [f"W{i:03d}" for i in range(120) if i != 7]
    assert table.metadata["gene"].tolist() == ["TP53"] * 119
    x = read(plate, columns=Columns(features=("f*",), drop=("flat",), missing="drop-rows")).values
    np.testing.assert_allclose(table.values, library.load(fitted).transform(x), rtol=1e-6)


def test_cells_get_loadings_and_how_they_came_about(plate, fitted, tmp_path, unmix_json):
    anndata = pytest.importorskip("anndata")
    unmix_json("transform", fitted, plate, "--out", tmp_path / "z.h5ad")
    cells = anndata.read_h5ad(tmp_path / "z.h5ad")
    assert cells.obsm["X_unmix"].shape == (120, 2) and cells.varm["unmix"].shape == (5, 2)
    assert np.isfinite(cells.varm["unmix"]).all()
    assert cells.uns["unmix"]["method"] == "DiverseDictionaryLearning"
    assert cells.uns["unmix"]["settings"]["n_components"] == 2
    assert list(cells.uns["unmix"]["recipe"]["features"]) == ["f0", "f1", "f2", "f3", "f4"]
    assert cells.uns["unmix"]["recipe"]["dropped"] == {"flat": "constant", "twin": "a copy of another"}
    assert list(cells.uns["unmix"]["names"]) == ["z0", "z1"]
    verdict = cells.uns["unmix"]["verdict"]
    assert set(verdict["verdicts"]) <= {"yes", "no", "not checked"} and verdict["effort"] == "none"
    assert verdict["probability"].shape == (2,)


@pytest.fixture
def cells(tmp_path):
    anndata = pytest.importorskip("anndata")
    rng = np.random.default_rng(0)
    made = anndata.AnnData(rng.laplace(size=(60, 4)) @ rng.normal(size=(4, 4)))
    made.X[:, 1] = 2.5  # a gene that nobody expresses
    made.var_names, made.obsm["X_pca"] = list("abcd"), rng.laplace(size=(60, 3))
    made.write_h5ad(tmp_path / "cells.h5ad")
    return tmp_path / "cells.h5ad"


ICA = ("--method", "ica", "--n-components", 2)


def test_variables_that_were_left_out_have_no_loadings(cells, tmp_path, unmix):
    anndata = pytest.importorskip("anndata")
    assert unmix("fit", cells, *ICA, "--out", tmp_path / "m").code == 0
    assert unmix("transform", tmp_path / "m", cells, "--out", tmp_path / "z.h5ad").code == 0
    loadings = anndata.read_h5ad(tmp_path / "z.h5ad").varm["unmix"]
    assert np.isnan(loadings).tolist() == [[each == "b"] * 2 for each in "abcd"]


def test_loadings_of_an_array_of_obsm_are_no_variables(cells, tmp_path, unmix):
    anndata = pytest.importorskip("anndata")
    assert unmix("fit", cells, *ICA, "--obsm", "X_pca", "--out", tmp_path / "m").code == 0
    assert unmix("transform", tmp_path / "m", cells, "--out", tmp_path / "z.h5ad").code == 0
    made = anndata.read_h5ad(tmp_path / "z.h5ad")
    assert made.obsm["X_unmix"].shape == (60, 2) and "unmix" not in made.varm
    assert np.isfinite(made.uns["unmix"]["loadings"]).all() and made.uns["unmix"]["loadings"].shape == (3, 2)


def test_latents_of_safetensors_go_into_safetensors(tmp_path, unmix):
    source, out = tmp_path / "x.safetensors", tmp_path / "z.safetensors"
    save_file({"x": np.random.default_rng(0).laplace(size=(60, 3))}, source)
    assert unmix("fit", source, *ICA, "--out", tmp_path / "m").code == 0
    assert unmix("transform", tmp_path / "m", source, "--out", out).code == 0
    expected = library.load(tmp_path / "m").transform(load_file(source)["x"])
    np.testing.assert_allclose(load_file(out)["z"], expected)


def test_a_verdict_does_not_outlive_its_fit(fitted):
    model = library.load(fitted)
    assert len(model.trust_verdicts_) == 2
    model.set_params(max_iter=1, n_restarts=1).fit(np.random.default_rng(0).normal(size=(40, 5)))
    assert not hasattr(model, "trust_verdicts_") and not hasattr(model, "recipe_")


@pytest.fixture
def large(monkeypatch):
    """Let every Parquet file count as one that is larger than memory."""
    from unmix.tables import _survey

    monkeypatch.setattr(_survey, "LARGE", 0)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_large_file_is_fitted_as_one_in_memory_is(tmp_path, unmix_json, unmix, monkeypatch, large):
    rng = np.random.default_rng(0)
    x = rng.laplace(size=(400, 3)) @ rng.normal(size=(3, 6))
    known = {
        "well": [f"W{i}" for i in range(400)],
        "Metadata_Plate": np.repeat([1, 2], 200),
        "flat": np.ones(400),
    }
    columns = known | {f"f{j}": column for j, column in enumerate(x.T)} | {"again": x[:, 0]}
    pa.parquet.write_table(pa.table(columns), tmp_path / "x.parquet")
    asked = ("fit", tmp_path / "x.parquet", "--method", "ica", "--n-components", 3)
    result = unmix(*asked, "--out", tmp_path / "streamed", "--report", tmp_path / "r.html")
    assert "read in blocks" in result.err and "Dropped 1 column, a copy of another: 'again'." in result.err
    assert "Left out (constant): flat." in (tmp_path / "r.html").read_text(encoding="utf-8")
    monkeypatch.undo()
    unmix_json(*asked, "--out", tmp_path / "whole")
    streamed, whole = library.load(tmp_path / "streamed"), library.load(tmp_path / "whole")
    np.testing.assert_allclose(streamed.transform(x[:, :6]), whole.transform(x[:, :6]), atol=1e-5)
    assert streamed.recipe_.to_dict() == whole.recipe_.to_dict()
    assert list(streamed.feature_names_in_) == [f"f{j}" for j in range(6)]
    pa.parquet.write_table(pa.table({"f0": x[:, 0]}), tmp_path / "narrow.parquet")
    lacking = unmix(
        "transform", tmp_path / "streamed", tmp_path / "narrow.parquet", "--out", tmp_path / "z.csv"
    )
    assert lacking.code == 2 and "it lacks 'f1', 'f2'" in lacking.err


def test_holes_of_a_large_file_are_counted_or_filled(tmp_path, unmix, unmix_json, large):
    x = np.random.default_rng(0).laplace(size=(300, 4))
    x[:5, 1] = np.nan
    pa.parquet.write_table(
        pa.table({f"f{j}": column for j, column in enumerate(x.T)}), tmp_path / "x.parquet"
    )
    asked = ("fit", tmp_path / "x.parquet", "--method", "ica", "--n-components", 2)
    result = unmix(*asked, "--out", tmp_path / "m")
    assert result.code == 2 and "column 'f1' has 5 (5 of 300 rows)" in result.err
    unmix_json(*asked, "--out", tmp_path / "m", "--missing", "median")
    recipe = library.load(tmp_path / "m").recipe_
    np.testing.assert_allclose(recipe.medians, np.nanmedian(x, axis=0))
    unmix_json(*asked, "--out", tmp_path / "n", "--missing", "drop-columns")
    assert library.load(tmp_path / "n").recipe_.features == ("f0", "f2", "f3")


def test_medians_of_the_fit_fill_holes_when_asked(plate, fitted, tmp_path, unmix_json):
    told = unmix_json("transform", fitted, plate, "--missing", "median", "--out", tmp_path / "z.npy")
    assert told["n_empty"] == 0 and np.isfinite(np.load(tmp_path / "z.npy")).all()


def test_nothing_is_overwritten_without_force(plate, fitted, tmp_path, unmix):
    (tmp_path / "z.csv").write_text("mine")
    (tmp_path / "m").write_text("mine")
    for line in (
        ("transform", fitted, plate, "--out", tmp_path / "z.csv"),
        ("fit", plate, *FIT, "--missing", "median", "--out", tmp_path / "m"),
    ):
        result = unmix(*line)
        assert result.code == 2 and "--force" in result.err
    assert {path.read_text() for path in tmp_path.iterdir()} == {"mine"}
    assert unmix("transform", fitted, plate, "--out", tmp_path / "z.csv", "--force").code == 0
    assert (tmp_path / "z.csv").read_text() != "mine"


@pytest.mark.parametrize("domains", ["week", "week,plate", "week plate"])
def test_domains_are_text_and_pairs_of_columns(domains, plate, tmp_path, unmix, unmix_json):
    line = (*FIT, "--missing", "median", "--method", "cgvae", "--domains", domains)
    unmix_json("fit", plate, *line, "--out", tmp_path / "m")
    found = list(library.load(tmp_path / "m").domains_)
    assert found == (["w0", "w1"] if domains == "week" else [f"w{i}|0{j}" for i in (0, 1) for j in (0, 1, 2)])
    told = unmix_json("trust", tmp_path / "m", plate, "--domains", domains, "--effort", "none")
    assert len(told["probability"]) == 2
    page = unmix(
        "report", tmp_path / "m", "--data", plate, "--domains", domains, "--out", tmp_path / "r.html"
    )
    assert page.code == 0, page.err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["fit", "{wells}", "--method", "cgvae", "--domains", "weak"], "Did you mean 'week'?"),
        (["fit", "{wells}", "--method", "cgvae", "--domains", "short.csv"], "each of the 120 rows, got 2"),
        (["fit", "{wells}", "--features", "F0"], "got 'F0'. Did you mean 'f0'"),
        (["fit", "{wells}", "--layer", "a", "--obsm", "b"], "`--layer` must be given without --obsm"),
        (["fit", "{wells}", "--missing", "mean"], "`--missing` must be one of error"),
        (["transform", "{model}", "other.csv"], "it lacks 'f2', 'f3', 'f4'"),
    ],
)
def test_mistakes_of_commands(line, words, plate, fitted, tmp_path, refused):
    (tmp_path / "short.csv").write_text("u\na\nb\n")
    (tmp_path / "other.csv").write_text("f1,f0\n1,2\n3,4\n")
    filling = [] if "--missing" in line or line[0] == "transform" else ["--missing", "median"]
    more = [*FIT, *filling] if line[0] == "fit" else []
    out = "m" if line[0] == "fit" else "z.csv"
    refused(tmp_path, [*line, *more, "--out", out], words, wells=plate, model=fitted)


def test_one_domain_is_too_few(plate, tmp_path, unmix):
    line = (*FIT, "--missing", "median", "--method", "cgvae", "--domains", "gene", "--out", tmp_path / "m")
    result = unmix("fit", plate, *line)
    assert result.code == 2 and "at least 2 different domains" in result.err.splitlines()[-1]


def test_labels_in_a_file_lose_the_rows_that_the_table_loses(plate, tmp_path, unmix_json):
    (tmp_path / "u.csv").write_text("u\n" + "\n".join(f"d{i % 2}" for i in range(120)) + "\n")
    line = (*FIT, "--missing", "drop-rows", "--method", "cgvae", "--domains", tmp_path / "u.csv")
    assert unmix_json("fit", plate, *line, "--out", tmp_path / "m")["domains"] == ["d0", "d1"]


def test_truth_follows_the_rows_and_columns_that_are_left(tmp_path, unmix_json):
    made = library.data.sparse_mixing(150, 3, 4, random_state=0)
    x = np.column_stack([made.x[:, 0], np.ones(150), made.x[:, 1:]])
    x[3, 0] = np.nan
    support = np.insert(made.structure.support, 1, False, axis=0)
    np.savez(tmp_path / "d.npz", x=x, z=made.z, structure=support)
    page = ("--report", tmp_path / "r.html")
    line = ("fit", tmp_path / "d.npz", *FIT, "--missing", "drop-rows", *page, "--out", tmp_path / "m")
    unmix_json(*line)
    assert "How close to the truth?" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert library.load(tmp_path / "m").recipe_.features == ("x0", "x2", "x3", "x4")


def test_evaluate_takes_the_latents_and_not_what_stands_beside_them(tmp_path, unmix_json):
    z = np.random.default_rng(0).normal(size=(50, 2))
    rows = [f"{i},{a!r},{b!r}" for i, (a, b) in enumerate(z.tolist())]
    (tmp_path / "z.csv").write_text("\n".join(["dose,z0,z1", *rows]))
    np.save(tmp_path / "z.npy", z)
    scores = unmix_json("evaluate", tmp_path / "z.npy", tmp_path / "z.csv")
    assert json.dumps(scores["mcc"]["value"]) and scores["mcc"]["value"] == pytest.approx(1)
