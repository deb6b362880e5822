"""`unmix certify`: every kind of knowledge as an option, and every way to get it wrong."""

import json

import numpy as np
import pytest

import unmix as library
from unmix import tables
from unmix.structure import Structure
from unmix.theory import (
    between,
    certify,
    certify_mechanisms,
    certify_supports,
    explain,
    identify,
    refitted_structures,
)

MASK = Structure([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]])
NESTED = Structure([[1, 1], [0, 1], [0, 1]])


@pytest.fixture
def mask(tmp_path):
    return MASK.write(tmp_path / "mask.csv")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A small model, the data it was fitted to and a second run, as files."""
    folder = tmp_path_factory.mktemp("fitted")
    data = library.data.sparse_mixing(200, n_latents=3, n_observed=6, random_state=0)
    model = library.DiverseDictionaryLearning(3, max_iter=10, n_restarts=1, random_state=0).fit(data.x)
    model.feature_names_in_ = np.array([f"x{i}" for i in range(6)], dtype=object)
    model.save(folder / "model")
    np.save(folder / "x.npy", data.x)
    batches = np.arange(200) % 4
    names = [*model.feature_names_in_, "batch"]
    tables.write(folder / "table.csv", np.column_stack([data.x, batches]), names)
    np.savez(folder / "more.npz", u=batches, z=data.z)
    return folder


def plain(document):
    return json.loads(json.dumps(document))


def test_two_sets_are_compared_and_regions_judged(mask, unmix_json):
    document = unmix_json("certify", mask, "--set", "A=0,1", "--set", "B=2")
    assert document["parts"]["sets"] == plain(between(MASK, [0, 1], [2]).to_dict())
    document = unmix_json("certify", mask, "--set", "left=0", "--set", "right=1", "--ask", "left - right")
    assert document["parts"]["region"] == plain(identify(MASK, "left - right", left=[0], right=[1]).to_dict())
    assert document["levels"] == list(certify(MASK).levels)


def test_groups_and_independence(mask, unmix_json):
    document = unmix_json("certify", mask, "--groups", "0,1/2/3", "--independent")
    expected = certify(MASK, groups=[[0, 1], [2], [3]], independent_latents=True)
    assert document["levels"] == list(expected.levels) and document["groups"] == [[0, 1], [2], [3]]
    assert document["may_depend"] == expected.may_depend.tolist()


def test_domains_counted_or_in_a_file(tmp_path, unmix_json):
    twins = Structure([[1, 1], [1, 1]]).write(tmp_path / "twins.npy")
    counted = unmix_json("certify", twins, "--domains", 3)["parts"]["domains"]
    assert (counted["levels"], counted["more_domains"]) == (["subspace", "subspace"], 2)
    np.save(tmp_path / "u.npy", np.arange(50) % 5)
    (tmp_path / "u.csv").write_text("batch\n" + "\n".join(str(k % 5) for k in range(50)))
    for path in ("u.npy", "u.csv"):
        document = unmix_json("certify", twins, "--domains", tmp_path / path)
        assert document["parts"]["domains"]["n_domains"] == 5
    z = np.random.default_rng(0).normal(size=(50, 2))
    np.save(tmp_path / "z.npy", z)
    document = unmix_json("certify", twins, "--domains", tmp_path / "u.npy", "--codes", tmp_path / "z.npy")
    assert document["parts"]["changes"]["n_domains"] == 5


def test_kinds_of_samples(tmp_path, mask, unmix_json):
    masks = [[1, 1, 0], [0, 1, 1], [1, 0, 1]]
    np.save(tmp_path / "masks.npy", masks)
    document = unmix_json("certify", mask, "--masks", tmp_path / "masks.npy")
    assert document["parts"]["mixture"] == plain(certify_supports(masks).to_dict())
    labels = np.repeat([0, 1, 2], 50)
    z = np.random.default_rng(0).normal(1, 1, size=(150, 3)) * np.array(masks)[labels]
    np.save(tmp_path / "z.npy", z)
    np.savez(tmp_path / "labels.npz", kind=labels)
    line = ("--codes", tmp_path / "z.npy", "--components", f"{tmp_path}/labels.npz:kind")
    assert unmix_json("certify", mask, *line)["parts"]["mixture"]["frequencies"]["reduced form"] == 1


def test_jacobians_bring_mechanisms_and_stability(tmp_path, unmix_json):
    slots = Structure([[1, 0], [1, 0], [0, 1]])
    jacobians = np.random.default_rng(0).normal(size=(60, 3, 2)) * slots.support
    np.save(tmp_path / "J.npy", jacobians)
    path = slots.write(tmp_path / "mask.json")
    for partition in ("2", "0/1", "finest"):
        line = ("--jacobians", tmp_path / "J.npy", "--partition", partition, "--stability", 20)
        document = unmix_json("certify", path, *line)
        expected = certify_mechanisms(jacobians, [[0], [1]])
        assert document["parts"]["mechanisms"]["types"] == plain(expected.to_dict()["types"])
        assert document["parts"]["resampling"]["n_structures"] == 20
        assert document["parts"]["resampling"]["support"] == [1, 1]


def test_refits_give_verdicts_a_frequency(tmp_path, mask, unmix_json):
    other = Structure(np.ones((4, 3))).write(tmp_path / "other.csv")
    document = unmix_json("certify", mask, "--refit", mask, "--refit", other)
    assert document["parts"]["refits"]["support"] == [0.5, 0.5, 0.5]


IGNORE_NAMES = pytest.mark.filterwarnings("ignore:X does not have valid feature names")


@pytest.mark.slow
@IGNORE_NAMES
def test_a_model_is_fitted_anew_to_halves_of_its_data(fitted, mask, unmix, unmix_json):
    line = (fitted / "model", "--data", fitted / "x.npy", "--refits", 2)
    document = unmix_json("certify", *line)
    model, x = library.load(fitted / "model"), np.load(fitted / "x.npy")
    found = explain(model=model, x=x, structures=refitted_structures(model, x, 2))
    assert document["parts"]["refits"] == plain(found.parts["refits"].to_dict())


@IGNORE_NAMES
def test_a_model_with_its_data_and_a_second_run(fitted, unmix_json):
    line = (fitted / "model", "--data", fitted / "x.npy", "--against", f"{fitted}/more.npz:z")
    document = unmix_json("certify", *line, "--stability", 10)
    model, x = library.load(fitted / "model"), np.load(fitted / "x.npy")
    found = explain(model=model, x=x, second_run=np.load(fitted / "more.npz")["z"], n_resamples=10)
    assert document["conclusions"].keys() == found.conclusions.keys()
    assert document["latents"] == plain(found.latents) and document["missing"] == list(found.missing)
    assert document["parts"]["pair"]["delta"] == pytest.approx(found.parts["pair"].delta)
    assert list(found.parts) == ["structure", "reading", "nonlinearity", "resampling", "decoder", "pair"]
    assert document["parts"]["reading"]["margin"] == pytest.approx(model.structure_.margin)


def test_a_column_of_the_data_names_the_domains(fitted, unmix_json):
    document = unmix_json("certify", fitted / "model", "--data", fitted / "table.csv", "--domains", "batch")
    assert document["parts"]["domains"]["n_domains"] == 4 and "changes" in document["parts"]


@pytest.mark.parametrize("suffix", ["html", "json", "txt"])
def test_the_answer_is_written_by_suffix(suffix, tmp_path, mask, unmix):
    out = tmp_path / f"answer.{suffix}"
    result = unmix("certify", mask, "--domains", 2, "--out", out)
    assert (result.code, result.err) == (0, "")
    found, text = explain(MASK, domains=2), out.read_text(encoding="utf-8")
    if suffix == "json":
        assert json.loads(text) == plain(found.to_dict())
    else:
        assert text == (found.to_html() if suffix == "html" else f"{found}\n")
    assert result.out == f"{found}\nWritten: {out}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([out.name, "mask.csv"])


def bad_lines():
    """Name each wrong use, its options and what the error has to say."""
    return [
        ("set without numbers", ["--set", "A"], "such as A=0,1"),
        ("set of words", ["--set", "A=x,y", "--set", "B=1"], "counted from 0"),
        ("one set", ["--set", "A=0"], "given twice"),
        ("the same set twice", ["--set", "A=0", "--set", "A=1"], "each name once"),
        ("set beyond the rows", ["--set", "A=0", "--set", "B=9"], "between 0"),
        ("unknown name", ["--set", "A=0", "--ask", "A - Q"], "`Q`"),
        ("not an expression", ["--set", "A=0", "--ask", "A +"], "set expression"),
        ("groups that do not cover", ["--groups", "0,1/2"], "exactly once"),
        ("groups of words", ["--groups", "a/b"], "`--groups` must hold numbers"),
        ("no domains", ["--domains", "0"], "at least 1"),
        ("negative domains", ["--domains", "-3"], "at least 1"),
        ("no such column", ["--domains", "gone"], "a column of --data or a file"),
        ("many columns", ["--domains", "{table}"], "one label per row"),
        ("data of a mask", ["--data", "{table}"], "given with a model"),
        ("partition without Jacobians", ["--partition", "2"], "given with Jacobians"),
        ("partition that does not cover", ["--jacobians", "{J}", "--partition", "0/1"], "partition"),
        ("flat Jacobians", ["--jacobians", "{table}"], "3 axes"),
        ("other Jacobians", ["--jacobians", "{J2}"], "(n, 4, 3)"),
        ("no such Jacobians", ["--jacobians", "gone.npy"], "must be a file that exists"),
        ("broken Jacobians", ["--jacobians", "{broken}"], "whole NPY file"),
        ("Jacobians by no key", ["--jacobians", "{two}"], "Pick one as"),
        ("Jacobians by a wrong key", ["--jacobians", "{two}:c"], "must hold an array"),
        ("stability of a mask", ["--stability", "9"], "--data or --jacobians"),
        ("one refit", ["--refit", "{mask}"], "at least two"),
        ("refits of a mask", ["--refits", "3"], "a model and --data"),
        ("second run alone", ["--against", "{table}"], "given with codes"),
        ("masks of numbers", ["--masks", "{table}"], "`masks` must"),
        ("answer as a picture", ["--out", "a.png"], "must end in"),
    ]


@pytest.mark.parametrize(("line", "words"), [pytest.param(*case[1:], id=case[0]) for case in bad_lines()])
def test_bad_input_ends_with_two_and_one_line(line, words, mask, tmp_path, refused):
    tables.write(tmp_path / "table.csv", np.arange(12.0).reshape(6, 2))
    np.save(tmp_path / "J.npy", np.ones((5, 4, 3)))
    np.save(tmp_path / "J2.npy", np.ones((5, 2, 2)))
    np.savez(tmp_path / "two.npz", a=np.ones(2), b=np.ones(2))
    (tmp_path / "broken.npy").write_bytes((tmp_path / "J.npy").read_bytes()[:200])
    refused(tmp_path, ["certify", mask, *line], words)
