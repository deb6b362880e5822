"""Pages of features: what they show, and that nothing in the data becomes markup."""

import base64
import hashlib
import re

import numpy as np
import pytest

from unmix import report
from unmix.estimators import SparseAutoencoder
from unmix.metrics import replicate_features
from unmix.report._feature_rows import Texts, top_rows

EVIL = "<script>alert(1)</script>"


class Store:
    """Activations of tokens, some of which look like markup."""

    def __init__(self, x):
        self.x, self.kept = x, np.arange(len(x))
        self.token_ids, self.document = np.arange(len(x)) % 7, np.arange(len(x)) // 50

    def __len__(self):
        return len(self.x)

    def take(self, start, stop):
        return self.x[start:stop]

    def text(self, tokens):
        return [EVIL if token == 3 else f" w{token}" for token in np.ravel(tokens)]


@pytest.fixture(scope="module")
def fitted():
    x = np.random.default_rng(0).laplace(size=(400, 6)).astype(np.float32)
    return x, SparseAutoencoder(10, k=2, max_iter=3, batch_size=100, random_state=0).fit(x)


def test_tokens_are_escaped_and_the_only_script_is_ours(fitted, tmp_path):
    x, model = fitted
    page = report.features(tmp_path / "f.html", model, Store(x), title=EVIL, notes=EVIL).read_text()
    assert EVIL not in page
    assert "&lt;script&gt;alert(1)" in page
    scripts = re.findall(r"<script>(.*?)</script>", page, flags=re.S)
    digests = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in scripts]
    assert len(scripts) == 2 and f"script-src 'sha256-{digests[0]}' 'sha256-{digests[1]}'" in page
    assert "http" not in re.sub(r"http-equiv", "", page)


def test_names_of_rows_are_escaped(fitted, tmp_path):
    x, model = fitted
    page = report.features(tmp_path / "f.html", model, x, ids=[EVIL] * len(x)).read_text()
    assert EVIL not in page
    assert page.count('class="feature"') == 10


def test_the_strongest_rows_come_first_with_their_tokens_lit_up():
    texts = Texts(np.arange(100), np.arange(100) // 40, lambda tokens: [f"t{t}" for t in tokens], None)
    rows, values = np.array([5, 6, 45, 90]), np.array([1.0, 4.0, 2.0, 3.0])
    found = top_rows(texts, rows, values)
    assert [value for value, _, _ in found] == ["4.00", "3.00", "2.00"]  # row 5 is within sight of row 6
    first = found[0][1]
    assert [text for level, _, text in first if level] == ["t5", "t6"]
    assert [text for _, here, text in first if here] == ["t6"]
    assert next(text for _, _, text in found[2][1]) == "t40"  # nothing of the window before


def test_a_page_has_replication_and_only_features_that_were_asked_for(fitted, tmp_path):
    x, model = fitted
    found = replicate_features([model.dictionary_, model.dictionary_[::-1]], covariance=np.cov(x.T))
    page = report.features(tmp_path / "f.html", model, x, replication=found, chosen=[2, 7]).read_text()
    assert re.findall(r"<h3>Feature (\d+)", page) == ["2", "7"]
    assert "replicates" in page
    assert "run 2 has it: nearest 7" in page


def test_write_takes_a_sparse_autoencoder(fitted, tmp_path):
    x, model = fitted
    page = report.write(tmp_path / "w.html", model=model, data=x).read_text()
    assert "Feature 9" in page
    assert "Not checked yet" in page or "None of 10 features are trusted" in page


def test_bad_input_is_named_and_nothing_is_written(fitted, tmp_path):
    x, model = fitted
    other = replicate_features([np.eye(6), np.eye(6)])
    with pytest.raises(ValueError, match="`replication` must be about 10 features, got 6"):
        report.features(tmp_path / "f.html", model, x, replication=other)
    with pytest.raises(ValueError, match="`chosen` must be features from 0 to 9, got 10"):
        report.features(tmp_path / "f.html", model, x, chosen=[10])
    with pytest.raises(ValueError, match="`ids` must name 400 rows, got 1"):
        report.features(tmp_path / "f.html", model, x, ids=["a"])
    with pytest.raises(ValueError, match="`data` must be the activations"):
        report.write(tmp_path / "f.html", model=model)
    assert not list(tmp_path.iterdir())


def test_what_is_explained_is_the_same_of_halves_as_of_doubles(tmp_path):
    x = (30 * np.random.default_rng(0).laplace(size=(9000, 6))).astype(np.float16)
    model = SparseAutoencoder(10, k=1, max_iter=1, batch_size=500, random_state=0).fit(x.astype(np.float32))
    page = report.features(tmp_path / "f.html", model, Store(x)).read_text()
    assert model.score(x.astype(np.float64)) < 0.9
    assert f"{model.score(x.astype(np.float64)):.1%}" in page
