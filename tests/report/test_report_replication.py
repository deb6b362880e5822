"""The page about many runs shows every latent, counts them, and never calls agreement more than that."""

import re

import numpy as np
import pytest

from pages import without_ours
from unmix import report
from unmix.evidence import Chain, Trust, link
from unmix.metrics import replicate
from unmix.report import _replication

HOSTILE = '<script>alert("x")</script>'


def runs(n=400):
    rng = np.random.default_rng(0)
    z = rng.laplace(size=(n, 4))
    return z, -z[:, ::-1], np.column_stack([z[:, :2] @ [[0.7, 0.7], [-0.7, 0.7]], rng.normal(size=(n, 1))])


def test_the_page_lists_latents_and_counts_runs(tmp_path):
    found = replicate(runs())
    html = report.replication(tmp_path / "r.html", found).read_text()
    assert "2 of 4 latents replicate in both other runs" in html and 'class="verdict care"' in html
    assert "Agreement is not identification" in html
    pills = re.findall(r'<span class="pill (\w+)"[^>]*>(\w+)</span>', html)
    assert pills == [
        *[("good", "alone"), ("care", "subspace")] * 2,
        *[("good", "alone"), ("stop", "no")] * 2,
    ]
    assert "<td>2 of 2</td><td>0</td><td>2</td>" in html and "<td>1 of 2</td><td>4</td><td>2</td>" in html
    assert "{0, 1} in {0, 1}" in html


def test_nothing_that_replicates_is_said_first(tmp_path):
    rng = np.random.default_rng(0)
    found = replicate([rng.normal(size=(200, 3)) for _ in range(2)])
    html = report.replication(tmp_path / "r.html", found).read_text()
    assert 'class="verdict stop"' in html and "0 of 3 latents replicate in the other run" in html


def test_long_lists_are_cut_and_say_so(tmp_path, monkeypatch):
    monkeypatch.setattr(_replication, "MAX_LINES", 4)
    html = report.replication(tmp_path / "r.html", replicate(runs())).read_text()
    assert html.count('class="pill') == 4 and "2 more latents are in the JSON document" in html


@pytest.mark.parametrize("write", ["replication", "compare"])
def test_strings_are_escaped_and_nothing_is_fetched(write, tmp_path):
    z, other, _ = runs()
    found = replicate([z, other], names=[HOSTILE, "b & c"])
    if write == "compare":
        page = report.compare(tmp_path / "r.html", z, other, replication=found)
    else:
        page = report.replication(tmp_path / "r.html", found, title=HOSTILE, notes=HOSTILE)
    html = page.read_text()
    assert "<script" not in without_ours(html) and "&lt;script&gt;" in html and "b &amp; c" in html
    assert not re.search(r'(?:src|href)="(?!#|data:)', html)


def test_agreement_of_two_runs_is_not_called_identification(tmp_path):
    z, other, _ = runs()
    rng = np.random.default_rng(1)
    assert "Agreement is not identification" in report.compare(tmp_path / "a.html", z, other).read_text()
    unrelated = report.compare(tmp_path / "b.html", z, rng.normal(size=z.shape)).read_text()
    assert "Agreement is not identification" not in unrelated


def verdict(yes, n=4):
    """What `unmix.trust` returns, of which the first so many latents are trusted."""
    links = link("a link", 0.9, 0.1, np.where(np.arange(n) < yes, 3.0, -3.0), ["measured <i>"] * n)
    chain = Chain({"a link": 9.0}, {"a link": 0.0}, rest=0.98)
    units = tuple((j,) for j in range(n))
    return Trust("FastICA", "linear", "a theorem", "order", units, (links,), chain, "quick", 0.9)


@pytest.mark.parametrize(("yes", "tone"), [(4, "good"), (3, "care")])
def test_a_page_is_green_only_where_all_replicate_and_all_are_trusted(yes, tone, tmp_path):
    z = runs()[0]
    found = replicate([z, -z], names=["model", "other"]).beside({"model": verdict(yes)})
    pages = [
        report.replication(tmp_path / "a.html", found),
        report.compare(tmp_path / "b.html", z, -z, replication=found),
    ]
    for html in (page.read_text() for page in pages):
        assert f'class="verdict {tone}"' in html
        assert re.search(rf"<h2>[^<]*; {'all 4' if yes == 4 else '3 of 4'} latents are trusted</h2>", html)
        assert html.count("0.98 yes") == yes and html.count("0.00 no") == 4 - yes
        assert "<i>" not in html and "measured &lt;i&gt;" in html


def test_verdicts_on_other_runs_or_latents_are_refused():
    found = replicate(runs(), names=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"`verdicts` must be of the runs .* got 'd'"):
        found.beside({"d": verdict(1)})
    with pytest.raises(ValueError, match="`verdicts` must be about the 4 latents of a, got 3"):
        found.beside({"a": verdict(1, n=3)})
    assert "b: 1 of 4 latents is trusted (effort quick)." in found.beside({"b": verdict(1)}).known
