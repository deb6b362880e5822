"""`unmix compare` of models: their codes are compared, and each latent has the verdict of `unmix trust`."""

import shutil
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from pages import Page
from unmix import tables
from unmix.data import multi_domain
from unmix.estimators import Autoencoder, FastICA, save
from unmix.nn import conv_decoder, conv_encoder

FIT = ("--n-components", 3, "--max-iter", 3, "--n-restarts", 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    rng = np.random.default_rng(0)
    x = rng.laplace(size=(300, 3)) @ rng.normal(size=(3, 6)) + 0.1 * rng.normal(size=(300, 6))
    tables.write(folder / "x.csv", x, list("abcdef"))
    moving = multi_domain(240, 3, n_domains=3, random_state=0)
    tables.write(folder / "moving.csv", np.column_stack([moving.x, moving.u]), [*"abcdef", "batch"])
    return folder


@pytest.fixture
def models(folder, unmix_json):
    for seed in (1, 2):
        if not (folder / f"model{seed}").exists():
            model = FastICA(3, random_state=seed).fit(pd.read_csv(folder / "x.csv").iloc[100 * seed - 100 :])
            model.save(folder / f"model{seed}")
            unmix_json(
                "transform", folder / f"model{seed}", folder / "x.csv", "--out", folder / f"z{seed}.npy"
            )
    return folder


def told(verdict):
    """What must be the same wherever a verdict is shown; the time it took is not."""
    return {name: value for name, value in verdict.items() if name != "seconds"}


@pytest.mark.parametrize("effort", ["none", "quick"])
def test_verdicts_are_those_of_trust_and_codes_those_of_transform(effort, models, unmix_json):
    runs = (models / "model1", models / "model2")
    found = unmix_json("compare", *runs, "--data", models / "x.csv", "--effort", effort)
    codes = unmix_json("compare", models / "z1.npy", models / "z2.npy")
    for run in runs:
        alone = unmix_json("trust", run, models / "x.csv", "--effort", effort)
        assert told(found["trust"][run.name]) == told(alone)
    verdict = found["trust"]["model1"]
    for j, latent in enumerate(found["replication"]["latents"]):
        beside = latent.pop("trust")
        assert (beside["verdict"], beside["probability"]) == (
            verdict["verdicts"][j],
            verdict["probability"][j],
        )
        assert beside["reason"] == verdict["reasons"][j] and beside["weakest"] in beside["reason"]
        expected = codes["replication"]["latents"][j]
        assert [run["status"] for run in latent["runs"]] == [run["status"] for run in expected["runs"]]
    assert found["permutation"] == pytest.approx(codes["permutation"], rel=1e-5)
    assert codes["trust"] == {}


def test_the_effort_is_quick_unless_told_and_people_read_it_beside_each_latent(models, unmix):
    result = unmix("compare", models / "model1", models / "model2", "--data", models / "x.csv")
    alone = unmix("trust", models / "model1", models / "x.csv").out.splitlines()
    assert result.code == 0 and "effort quick" in result.out
    for line in (*alone[:5], "Agreement is not identification", "Replicated in every run: "):
        assert line in result.out
    probability = alone[2].partition("(")[2].partition(")")[0]
    row = next(line for line in result.out.splitlines() if line.startswith("0 "))
    assert f" {probability} " in row


def test_models_and_codes_mix_in_any_order(models, unmix_json, unmix):
    line = ("--data", models / "x.csv", "--effort", "none")
    first = unmix_json("compare", models / "model1", models / "z2.npy", models / "model2", *line)
    assert first["trust"].keys() == {"model1", "model2"} and "trust" in first["replication"]["latents"][0]
    second = unmix_json("compare", models / "z2.npy", models / "model1", *line)
    assert second["trust"].keys() == {"model1"} and "trust" not in second["replication"]["latents"][0]
    said = unmix("compare", models / "z2.npy", models / "model1", *line).out
    assert "z2.npy: not judged, so that agreement is all that is known of it." in said
    assert "model1: " + first["trust"]["model1"]["headline"] in said


def test_the_page_shows_the_verdict_and_escapes_names(models, unmix):
    hostile = models / "<b>run & co<"
    shutil.copy(models / "model1", hostile)
    out, line = models / "runs.html", ("--data", models / "x.csv", "--effort", "none")
    for more in ((), (models / "z2.npy",)):  # two runs with maps between them, or many
        assert unmix("compare", hostile, models / "model2", *more, *line, "--out", out, "--force").code == 0
        html = out.read_text(encoding="utf-8")
        assert "<b>run" not in html and "&lt;b&gt;run &amp; co&lt;" in html
        reason = unmix("trust", models / "model1", models / "x.csv", "--effort", "none").out.splitlines()[2]
        assert reason in Page(html).text and 'class="verdict good"' not in html


def test_domains_reach_the_verdict(folder, unmix_json, unmix):
    data, line = folder / "moving.csv", ("--effort", "none")
    unmix_json("fit", data, "--method", "cgvae", *FIT, "--domains", "batch", "--out", folder / "moved")
    np.save(folder / "z.npy", np.random.default_rng(0).normal(size=(240, 3)))
    runs = (folder / "moved", folder / "z.npy", "--data", data)
    found = unmix_json("compare", *runs, "--domains", "batch", *line)["trust"]["moved"]
    assert told(found) == told(unmix_json("trust", folder / "moved", data, "--domains", "batch", *line))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["{z1}", "{model1}"], "`--data` must name the data that model1 was fitted to, got nothing"),
        (["{z1}", "{z2}", "--data", "{x}"], "`--data` must be left out where no run is a model"),
        (["{z1}", "{z2}", "--domains", "a"], "`--domains` must be left out where no run is a model"),
        (["{model1}", "gone", "--data", "{x}"], "`gone` must be a model written by `unmix fit`"),
        (["{model1}", "{broken}", "--data", "{x}"], "broken"),
        (["{model1}", "{z2}", "--data", "{short}"], "as many rows"),
        (["{model1}", "{z2}", "--data", "{narrow}"], "it lacks 'f'"),
    ],
)
def test_bad_input_ends_with_two_and_one_line(line, words, models, tmp_path, refused):
    for name in ("model1", "z1.npy", "z2.npy", "x.csv"):
        shutil.copy(models / name, tmp_path)
    (tmp_path / "broken").write_bytes((models / "model1").read_bytes()[:300])
    lines = (models / "x.csv").read_text().splitlines()
    (tmp_path / "short.csv").write_text("\n".join(lines[:100]))
    (tmp_path / "narrow.csv").write_text("\n".join(line.rpartition(",")[0] for line in lines))
    refused(tmp_path, ["compare", *line], words)


def test_a_model_is_known_by_what_is_in_it(models, unmix_json):
    shutil.copy(models / "model1", models / "one.safetensors")
    found = unmix_json(
        "compare",
        models / "one.safetensors",
        models / "model2",
        "--data",
        models / "x.csv",
        "--effort",
        "none",
    )
    assert found["trust"]["one.safetensors"]["method"] == "FastICA"


def test_pipelines_are_models_and_nothing_is_said_twice(folder, tmp_path, unmix):
    x = pd.read_csv(folder / "x.csv").to_numpy()
    for seed in (0, 1):
        both = make_pipeline(Autoencoder(3, max_iter=3, random_state=seed), FastICA(3, random_state=seed))
        save(both.fit(x), tmp_path / f"both{seed}")
    runs = (tmp_path / "both0", tmp_path / "both1")
    found = unmix("compare", *runs, "--data", folder / "x.csv", "--effort", "none")
    assert found.code == 0, found.err
    assert found.out.count("Of 3 latents of both0") == 1


@pytest.fixture
def pictures(tmp_path):
    """Two autoencoders of the same images, and the images."""
    images = np.random.default_rng(0).integers(0, 255, size=(40, 8, 8, 1)).astype(np.uint8)
    np.save(tmp_path / "images.npy", images)
    small = {"encoder": partial(conv_encoder, widths=(4,)), "decoder": partial(conv_decoder, widths=(4,))}
    for seed in (1, 2):
        Autoencoder(2, **small, max_iter=1, random_state=seed).fit(images).save(tmp_path / f"ae{seed}")
    return tmp_path


def test_models_of_images_are_compared_by_their_codes(pictures, unmix, unmix_json):
    found = unmix_json("compare", pictures / "ae1", pictures / "ae2", "--data", pictures / "images.npy")
    assert len(found["replication"]["latents"]) == 2
    for name in ("ae1", "ae2"):
        alone = unmix_json("trust", pictures / name, pictures / "images.npy")
        assert told(found["trust"][name]) == told(alone) and set(alone["verdicts"]) == {"no"}


def test_certify_has_the_verdict_of_trust_on_models_of_images(pictures, unmix_json):
    model, images, line = pictures / "ae1", pictures / "images.npy", ("--effort", "quick")
    found = unmix_json("certify", model, "--data", images, *line)
    assert told(found["trust"]) == told(unmix_json("trust", model, images, *line))
