"""The report says what may be said, shows every score beside its marks, and escapes every string."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from models import verdict
from pages import Page
from unmix import report
from unmix.metrics import evaluate
from unmix.structure import Structure, dense, diverse
from unmix.theory import certify, explain

HOSTILE = '<script>alert("x")</script>'


class Linear:
    """A fitted model with x = W z, codes that mix latents a little and, unless flat, varying gradients."""

    def __init__(self, weights, mix=0.0, bend=0.5):
        self.weights, self.mix, self.bend = np.asarray(weights, dtype=float), mix, bend
        self.structure_ = Structure(self.weights != 0)
        self.history_ = SimpleNamespace(terms={"fit": [3.0, 2.0], "sparsity": [1.0, 0.5]})
        self.restarts_ = [30.5, 29.9, np.nan]

    def __repr__(self):
        return "DiverseDictionaryLearning(n_components=2)"

    def get_params(self, deep=True):
        return {"n_components": self.weights.shape[1], "random_state": 0}

    def transform(self, x):
        z = x @ np.linalg.pinv(self.weights).T
        turn = np.random.default_rng(0).normal(size=(z.shape[1],) * 2)
        return z @ (np.eye(len(turn)) + self.mix * turn)

    def inverse_transform(self, z):
        turn = np.random.default_rng(0).normal(size=(z.shape[1],) * 2)
        return z @ np.linalg.inv(np.eye(len(turn)) + self.mix * turn) @ self.weights.T

    def jacobian(self, x):
        phases = np.arange(len(x))[:, None, None] * np.arange(1, self.weights.shape[1] + 1)
        return self.weights * (1 + self.bend * np.cos(phases))


def case(structure, *, mix=0.0, n_samples=400):
    rng = np.random.default_rng(1)
    weights = (
        rng.uniform(0.6, 1.5, structure.shape) * rng.choice([-1, 1], structure.shape) * structure.support
    )
    z = rng.normal(size=(n_samples, structure.n_latents))
    data = SimpleNamespace(x=z @ weights.T, z=z, structure=structure, description="")
    return Linear(weights, mix), data


def written(tmp_path, **parts):
    path = report.write(tmp_path / "report.html", **parts)
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def clear(tmp_path_factory):
    """One report on a clear case, as HTML; several tests read it."""
    model, data = case(diverse(10, 5, random_state=0), mix=0.02)
    path = tmp_path_factory.mktemp("report") / "r.html"
    report.write(path, model=model, data=data, trust=verdict(1, 1, 1, 1, 1))
    return path.read_text(encoding="utf-8")


def tones(page, tag="article"):
    """Return the classes of all cards, or of all elements of another kind."""
    return [value for kind, name, value in page.attributes if (kind, name) == (tag, "class")]


def test_a_clear_case_is_told_as_one(clear):
    page = Page(clear)
    assert ("section", "class", "verdict good") in page.attributes
    assert tones(page) == ["latent good"] * 5
    for phrase in (
        "All 5 latents are trusted",
        "If this structure is right and the assumptions below hold",
        "equals the true one, up to the order",
        "above raw x",
        "rotation floor",
        "Containment relation",
        "The paper’s relation",
        "start 1, kept",
        "dropped early",
        "How to reproduce",
        "unmix.DiverseDictionaryLearning(n_components=2)",
    ):
        assert phrase in page.text, phrase
    assert clear.index('id="answer"') < clear.index('id="trust"') < clear.index('id="scores"')


NAN = float("nan")


@pytest.mark.parametrize(
    ("strengths", "tone", "headline", "cards"),
    [
        ((1, 1), "good", "All 2 latents are trusted", ["good", "good"]),
        ((1, -1), "care", "1 of 2 latents is trusted", ["good", "stop"]),
        ((-1, -1), "stop", "None of 2 latents are trusted", ["stop", "stop"]),
        ((NAN, NAN), "open", "Not checked yet", ["open", "open"]),
    ],
    ids=["all", "some", "none", "not checked"],
)
def test_headline_tone_and_badges_follow_from_the_verdict(strengths, tone, headline, cards, tmp_path):
    model, data = case(Structure([[1, 0], [1, 1], [0, 1]]), n_samples=60)
    found = verdict(*strengths)
    page = written(tmp_path, model=model, data=data.x, trust=found)
    assert ("section", "class", f"verdict {tone}") in page.attributes and headline in page.text
    assert tones(page) == [f"latent {card}" for card in cards]
    for probability in found.probability:
        assert f"{probability:.2f} probability" in page.text
    assert "identified" not in page.text.partition("If this structure is right")[0]
    assert ("What stands in the way: zeros beyond generic ones" in page.text) == (-1 in strengths)
    assert ("unmix trust MODEL DATA --effort quick" in page.text) == (tone == "open")


def test_evidence_stands_beside_its_null(tmp_path):
    model, data = case(Structure([[1, 0], [1, 1], [0, 1]]), n_samples=60)
    page = written(tmp_path, model=model, data=data.x, trust=verdict(0.75, -0.5))
    assert "zeros beyond generic ones 0.75 noise 0 holds 99% -0.5 noise 0 holds 50%" in page.text
    assert "care" in tones(page, "td") and "good" in tones(page, "td")


def test_slots_are_judged_as_wholes(tmp_path):
    model, data = case(diverse(8, 4, random_state=0), n_samples=60)
    slots = verdict(1, -1, kind="slots", units=((0, 2), (1, 3)))
    page = written(tmp_path, model=model, data=data.x, trust=slots)
    assert "1 of 2 slots is trusted" in page.text and "Holds ẑ0 and ẑ2" in page.text


def test_a_bad_fit_turns_the_page(tmp_path):
    model, data = case(diverse(8, 4, random_state=0), n_samples=100)
    model.inverse_transform = lambda z: np.zeros((len(z), 8))
    for found in (verdict(1, 1, 1, 1), verdict(NAN, NAN, NAN, NAN)):
        page = written(tmp_path, model=model, data=data, trust=found)
        assert f"The model explains only 0% of the variance of x. {found.headline}" in page.text
        assert ("section", "class", "verdict stop") in page.attributes


def test_a_model_that_no_argument_is_known_for_is_never_trusted(tmp_path):
    model, data = case(diverse(8, 4, random_state=0), n_samples=100)
    page = written(tmp_path, model=model, data=data, trust="full")
    assert (
        "None of 4 latents are trusted" in page.text and "No theorem speaks about these latents" in page.text
    )
    assert tones(page) == ["latent stop"] * 4 and "The evidence, item by item" not in page.text


def test_the_truth_marks_the_scores_and_never_the_verdict(tmp_path):
    model, data = case(diverse(8, 4, random_state=0), n_samples=100)
    pages = [written(tmp_path, model=model, data=each, trust=verdict(1, 1, -1, 1)) for each in (data, data.x)]
    answers = [page.text[page.text.index("3 of 4") : page.text.index("Samples")] for page in pages]
    assert answers[0].replace("How close to the truth? ", "") == answers[1]  # but for the link to the scores
    assert ["How close to the truth?" in page.text for page in pages] == [True, False]


def test_rows_too_few_to_judge_are_said_to_be(tmp_path):
    model, data = case(Structure([[1, 0], [1, 1], [0, 1]]), n_samples=10)
    page = written(tmp_path, model=model, data=data.x)
    assert "Not checked" in page.text and "at least 20 rows" in page.text
    assert ("section", "class", "verdict open") in page.attributes


@pytest.mark.parametrize("structure", [dense(4, 4), Structure(np.triu(np.ones((3, 3))))])
def test_a_structure_that_is_not_sparser_than_triangular_is_never_a_success(structure, tmp_path):
    model, data = case(structure)
    assert not certify(structure).sparser_than_triangular
    page = written(tmp_path, model=model, data=data)
    assert ("section", "class", "verdict stop") in page.attributes
    assert "can’t be taken as identification" in page.text and "not singled out" in page.text
    assert "Not evidence of identification." in page.text and "above raw x" not in page.text
    alone = written(tmp_path, certificate=certify(structure))
    assert "This structure can’t be singled out" in alone.text
    assert ("section", "class", "verdict stop") in alone.attributes


def test_a_decoder_that_does_not_bend_is_a_warning_beside_the_structure(tmp_path):
    model, data = case(diverse(10, 5, random_state=0))
    assert "bends too little" not in written(tmp_path, model=model, data=data).text
    model.bend = 0.0
    page = written(tmp_path, model=model, data=data)
    assert "bends too little" in page.text and "was found to fail" in page.text
    given = written(tmp_path, certificate=explain(model=model, x=data.x, domains=9), data=data, model=model)
    assert "Domains and sparse mixing" in given.text and "bends too little" in given.text


def test_a_score_that_raw_x_reaches_as_well_is_not_a_success(tmp_path):
    model, data = case(diverse(10, 5, random_state=0), mix=3.0)
    page = written(tmp_path, model=model, data=data)
    assert "not clearly above raw x" in page.text and "this fit did not recover the latents" in page.text


def test_a_wrong_structure_is_said_to_be_wrong(tmp_path):
    model, data = case(diverse(10, 5, random_state=0))
    data.structure = Structure(
        np.where(np.arange(50).reshape(10, 5) == 0, ~data.structure.support, data.structure.support)
    )
    page = written(tmp_path, model=model, data=data)
    assert "differs from the true one in 1 of 50 entries" in page.text


def test_every_score_stands_beside_raw_x_and_the_floor(tmp_path):
    model, data = case(diverse(8, 4, random_state=0), mix=0.1)
    z_hat = model.transform(data.x)
    without = evaluate(data.z, z_hat, random_state=0)
    assert without["mcc"].raw is None
    page = written(tmp_path, model=model, data=data, evaluation=without)
    measured = evaluate(data.z, z_hat, x=data.x, random_state=0)["mcc"]
    for number in (measured.value, measured.raw, measured.floor):
        assert f"{number:.3f}" in page.text
    assert "not measured" not in page.text


def test_without_raw_x_the_gap_is_named(tmp_path):
    z = np.random.default_rng(0).normal(size=(100, 3))
    page = written(tmp_path, evaluation=evaluate(z, z, random_state=0))
    assert "raw x was not scored" in page.text and "not measured" in page.text


def test_nested_latents_show_both_relations_apart(tmp_path):
    parents = ([1, 2], [0, 2], [2, 3, 4], [0, 2], [1, 3, 4], [1, 2], [1, 2])
    structure = Structure([[j in row for j in range(5)] for row in parents])
    certificate = certify(structure)
    page = written(tmp_path, certificate=certificate)
    assert "alone if independent" in page.text and "in a block with" in page.text
    alone = certificate.levels.count("element")
    assert f"If this structure is right, {alone} of 5 latents would be identified alone" in page.text
    assert "Apart only in the paper’s relation" in page.text
    labels = [value for tag, name, value in page.attributes if (tag, name) == ("svg", "aria-label")]
    assert "Matrix of the relation may_depend" in labels
    assert "Matrix of the relation separated_in_paper" in labels


def test_an_array_without_truth(tmp_path):
    model, data = case(diverse(8, 4, random_state=0), n_samples=100)
    page = written(tmp_path, model=model, data=data.x)
    assert "How close to the truth?" not in page.text


def test_unused_latents_are_named(tmp_path):
    model, data = case(diverse(8, 4, random_state=0), n_samples=100)
    model.structure_ = Structure(model.structure_.support & (np.arange(4) != 2))
    page = written(tmp_path, model=model, data=data.x)
    assert "ẑ2 reach no observed variable" in page.text


def test_fewer_observed_variables_than_latents(tmp_path):
    page = written(tmp_path, certificate=certify(Structure([[1, 1, 0], [0, 1, 1]])))
    assert "fewer observed variables than latents" in page.text


def test_hostile_strings_stay_text(tmp_path):
    model, data = case(diverse(6, 3, random_state=0))
    model.feature_names_in_ = np.array([HOSTILE, '"onload="x', "a&b", "$x$", "<!--", "]]>"], dtype=object)
    data.description = HOSTILE
    model.get_params = lambda deep=True: {HOSTILE: HOSTILE}
    type(model).__repr__, plain = (lambda self: HOSTILE), type(model).__repr__
    try:
        page = written(tmp_path, model=model, data=data, title=HOSTILE, notes=f"{HOSTILE}\n\n{HOSTILE}")
    finally:
        type(model).__repr__ = plain
    assert "script" not in page.tags
    assert page.text.count("alert(") >= 5
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    assert "a&b" in page.text


def test_the_page_needs_no_network_and_no_script_but_ours(clear):
    page = Page(clear)
    assert not {"script", "link", "iframe", "object", "embed"} & set(page.tags)
    links = [value for _, name, value in page.attributes if name in ("src", "href", "xlink:href")]
    assert links and all(value.startswith(("#", "data:image/png;base64,")) for value in links)
    assert "@import" not in page.text and not re.search(r"url\((?!#)", page.text)
    policy = dict(attribute[1:] for attribute in page.attributes if attribute[0] == "meta")
    assert policy["content"]


def test_ids_are_unique_and_every_reference_resolves(clear):
    page = Page(clear)
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    targets = {
        value[1:] for _, name, value in page.attributes if name == "xlink:href" and value.startswith("#")
    }
    assert targets <= set(ids)


def test_pictures_take_their_ink_from_the_page(tmp_path):
    model, data = case(diverse(10, 5, random_state=0))
    html = report.write(tmp_path / "r.html", model=model, data=data).read_text(encoding="utf-8")
    assert "currentColor" in html and "var(--line)" in html and "prefers-color-scheme: dark" in html
    assert not re.search(r"(?:fill|stroke): ?#0[0-9a-f]{5}\b", html), (
        "black ink would vanish on a dark screen"
    )


@pytest.mark.slow
def test_a_large_model_stays_small_on_disk(tmp_path):
    model, data = case(diverse(300, 50, random_state=0), n_samples=200)
    path = report.write(tmp_path / "r.html", model=model, data=data)
    assert path.stat().st_size < 2_000_000
    assert "26 more latents" in path.read_text(encoding="utf-8")


def test_same_input_same_bytes(tmp_path):
    model, data = case(diverse(6, 3, random_state=0), n_samples=50)
    first, second = (report.write(tmp_path / name, model=model, data=data).read_bytes() for name in "ab")
    assert first == second


def test_nothing_to_report(tmp_path):
    with pytest.raises(ValueError, match="must be given a `model`, an `evaluation` or a `certificate`"):
        report.write(tmp_path / "r.html")
    assert not list(tmp_path.iterdir())


def test_data_of_a_wrong_shape(tmp_path):
    with pytest.raises(ValueError, match="`data` must be a LatentDataset or a matrix"):
        report.write(tmp_path / "r.html", certificate=certify(Structure(np.eye(2))), data=np.ones(3))


def test_dependencies_are_shown_beside_what_a_triangular_model_needs(tmp_path):
    for structure, words in [(diverse(8, 4, random_state=0), "needs "), (diverse(26, 4), "needs at most ")]:
        model, data = case(structure)
        page = Page(report.write(tmp_path / "r.html", model=model, data=data).read_text(encoding="utf-8"))
        assert f"a triangular model {words}{certify(structure).alternative.edges}" in page.text


def test_an_explanation_is_conditional_and_comes_after_the_verdict():
    found = explain(Structure([[1, 0], [1, 1], [0, 1]]), domains=3)
    condition = "If what was given is right, and the assumptions hold:"
    assert str(found).startswith(condition)
    html = found.to_html(trust=verdict(1, -1))
    assert html.index("1 of 2 latents is trusted") < html.index(condition) < html.index("identified alone")
    assert 'class="verdict good"' not in html and 'class="pill good"' not in found.to_html()
