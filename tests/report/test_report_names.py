"""The page names latents: cards in order, shaded tables, walks of what moves most, for every estimator."""

import re

import numpy as np
import pandas as pd
import pytest

import families
from models import verdict
from pages import Page, without_ours
from unmix import describe, report
from unmix.estimators import CGVAE, IVAE, FastICA, LabelledSparseAutoencoder, LatentEstimator, SlotAutoencoder
from unmix.structure import Structure, ring
from unmix.theory import explain

HOSTILE = '<script>alert("x")</script>'
EVERY = (*families.ESTIMATORS, *families.TRANSFORMERS[:2])
QUICK = ("DiverseDictionaryLearning", "SlotAutoencoder", "FastICA", "SparseBasis")


def table(n=90, seed=0, d=9):
    rng = np.random.default_rng(seed)
    z = rng.laplace(size=(n, 3))
    x = np.repeat(z, d // 3, axis=1) + 0.1 * rng.normal(size=(n, d))
    names = [f"{part}_{k}" for part in ("er", "rna", "mito") for k in range(d // 3)]
    return pd.DataFrame(x, columns=names), {"week": np.where(z[:, 0] > 0, "late", "early")}


def written(tmp_path, **parts):
    html = report.write(tmp_path / "r.html", **parts).read_text(encoding="utf-8")
    html = html.replace("<wbr>", "")  # where long names may wrap
    return Page(html), html


@pytest.mark.parametrize(
    "member",
    [each if families.label(each) in QUICK else pytest.param(each, marks=pytest.mark.slow) for each in EVERY],
    ids=families.label,
)
@pytest.mark.filterwarnings("ignore")
def test_every_estimator_has_a_page_with_names(member, tmp_path):
    x, beside = table()
    domains = np.arange(len(x)) % 3 if isinstance(member, CGVAE | IVAE) else None
    network = isinstance(member, LatentEstimator)
    model = (families.quick(member) if network else member).set_params(n_components=3)
    known = {} if domains is None else {"domains": domains}
    known |= {"y": np.arange(len(x)) % 2} if isinstance(member, LabelledSparseAutoencoder) else {}
    model.fit(x, **known)
    page, html = written(tmp_path, model=model, data=x, metadata=beside, domains=domains, trust="none")
    cards = [value for tag, name, value in page.attributes if (tag, name) == ("article", "class")]
    slots = isinstance(model, SlotAutoencoder)
    assert len(cards) == 3 + (len(model.partition_) if slots else 0) and not page.open
    for part in ("Moves most", "Rows at both ends", "Which latent moves which variable", "er_0", "week"):
        assert part in page.text, part
    assert html.count('class="histogram"') == 3 and 'aria-label="Traversal of latent 2"' in html
    assert 'id="answer"' in html and "Explained" in page.text


def test_cards_come_by_verdict_and_then_by_strength(tmp_path):
    x, beside = table()
    x *= np.repeat([1.0, 1.0, 1.0], 3)
    model = FastICA(3, random_state=0).fit(x)
    strength = np.square(model.loadings_).mean(0)
    page, _ = written(tmp_path, model=model, data=x, metadata=beside, trust=verdict(-1, 1, -1))
    shown = [text.strip() for text in page.texts if re.fullmatch(r"\s*ẑ\d\s*", text)][:3]
    rest = sorted((0, 2), key=lambda j: -strength[j])
    assert shown == ["ẑ1", *(f"ẑ{j}" for j in rest)]


def test_a_latent_is_called_by_its_group_and_what_it_goes_with(tmp_path):
    x, beside = table(400, d=24)
    model = FastICA(3, random_state=0).fit(x)
    page, html = written(
        tmp_path, model=model, data=x, metadata=beside, ids=[f"cell {i}" for i in range(400)]
    )
    late = int(np.argmax(np.abs(np.corrcoef(model.transform(x).T, beside["week"] == "late")[-1, :3])))
    card = next(part for part in html.split("<article")[1:] if f"ẑ{late}" in part)
    text = Page("<article" + card.partition("</article>")[0] + "</article>").text
    assert "er" in text and "week AUROC" in text and "noise" in text and "cell " in text
    assert "Which latent moves which group of variables" in page.text and "permutation" in page.text


def test_names_ids_and_columns_are_text_whatever_they_say(tmp_path):
    x, _ = table()
    x = x.set_axis([f"{HOSTILE}_{k}" for k in range(3)] + list(x)[3:], axis=1)
    beside = {HOSTILE: np.where(x.iloc[:, 0] > 0, HOSTILE, "b"), "one": np.full(90, HOSTILE)}
    sets = {HOSTILE: list(x)[:4]}
    model = FastICA(3, random_state=0).fit(x)
    page, html = written(
        tmp_path, model=model, data=x, metadata=beside, ids=[f"{HOSTILE}{i}" for i in range(90)], groups=sets
    )
    assert "script" not in page.tags and not page.open and "<script" not in without_ours(html).lower()
    assert "alert" in page.text
    answer = explain(ring(3)).to_html(description=describe(model, x, metadata=beside, groups=sets))
    assert "<script" not in without_ours(answer).lower() and "alert" in Page(answer.replace("<wbr>", "")).text


def test_few_variables_without_names(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.laplace(size=(60, 3)) @ rng.normal(size=(3, 3))
    page, _ = written(tmp_path, model=FastICA(random_state=0).fit(x), data=x)
    assert "x0" in page.text and "group of variables" not in page.text and "latent goes with" not in page.text


def test_many_variables_are_told_by_the_strongest(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.laplace(size=(300, 4)) @ rng.normal(size=(4, 784)) + 0.1 * rng.normal(size=(300, 784))
    page, html = written(tmp_path, model=FastICA(4, random_state=0).fit(x), data=x)
    walk = html[html.index('aria-label="Traversal of latent 0"') :]
    walk = walk[: walk.index("</figure>")]
    assert len(set(re.findall(r'<i style="background:(#\w+)"', walk))) == 5, "a colour and a name each"
    assert "772 more are not shown" in page.text and len(html) < 200_000


class Linear:
    """One latent that reaches four variables, with more and more of it."""

    weights = np.array([[0.2], [0.6], [-2.0], [1.0]])
    structure_ = Structure(weights != 0)

    def transform(self, x):
        return np.asarray(x) @ np.linalg.pinv(self.weights).T

    def jacobian(self, x):
        return np.tile(self.weights, (len(x), 1, 1))


def test_what_a_latent_reaches_is_told_the_strongest_first(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 1)) @ Linear.weights.T + rng.normal(size=(60, 4))
    page, _ = written(tmp_path, model=Linear(), data=x)
    assert "Reaches" in page.text and "x2, x3, x1 and x0" in page.text
