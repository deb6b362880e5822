"""The page about two runs says what the numbers say, and escapes every string."""

import re

import numpy as np
import pytest

from pages import without_ours
from unmix import report
from unmix.metrics import align
from unmix.theory import certify_pair

HOSTILE = '<script>alert("x")</script>'


def runs(n=400, d=3):
    rng = np.random.default_rng(0)
    z = rng.laplace(size=(n, d)) * np.arange(1, d + 1)
    return z, np.linalg.qr(rng.normal(size=(d, d)))[0], rng


@pytest.mark.parametrize(
    ("second", "tone", "headline"),
    [
        (lambda z, q, rng: -z[:, ::-1], "good", "The runs agree, latent by latent"),
        (lambda z, q, rng: z @ q, "good", "once ICA has removed a rotation"),
        (lambda z, q, rng: z + 2 * rng.normal(size=z.shape), "care", "The runs agree in part"),
        (lambda z, q, rng: rng.normal(size=z.shape), "stop", "The runs do not agree"),
    ],
    ids=["permuted", "rotated", "noisy", "unrelated"],
)
def test_the_headline_follows_the_numbers(second, tone, headline, tmp_path):
    z, q, rng = runs()
    other = second(z, q, rng)
    html = report.compare(tmp_path / "r.html", z, other).read_text()
    assert f'class="verdict {tone}"' in html and headline in html
    found = align(z, other)
    for name in ("permutation", "rigid", "linear", "ica", "mean", "shuffled"):
        assert f'<td class="number">{getattr(found, name):.4f}</td>' in html
    assert certify_pair(z, other, scale=True).identifies in html
    assert html.count("<svg") == 5


def test_bars_are_in_proportion(tmp_path):
    z, q, _ = runs()
    html = report.compare(tmp_path / "r.html", z, z @ q).read_text()
    percents = [float(value) for value in re.findall(r"width:([\d.]+)%", html)]
    found = align(z, z @ q)
    values = [found.permutation, found.rigid, found.linear, found.ica, found.mean, found.shuffled]
    np.testing.assert_allclose(percents, 100 * np.array(values) / max(values), atol=0.01)


def test_results_that_are_given_are_used_and_strings_are_escaped(tmp_path):
    z, q, _ = runs()
    found, proved = align(z, z @ q, held_out=0.25), certify_pair(z, z @ q)
    html = report.compare(
        tmp_path / "r.html",
        z,
        z @ q,
        alignment=found,
        certificate=proved,
        names=(HOSTILE, "b & c"),
        title=HOSTILE,
        notes=f"one\n\n{HOSTILE}",
    ).read_text()
    assert "100 scored" in html and f"{found.rigid:.4f}" in html
    assert "<script" not in without_ours(html) and html.count("&lt;script&gt;") >= 4 and "b &amp; c" in html
    assert not re.search(r'(?:src|href)="(?!#|data:)', html)  # nothing is fetched


def test_wide_or_unequal_or_constant_columns_are_no_error(tmp_path):
    z, _, rng = runs(200, 3)
    wide = np.column_stack([z @ rng.normal(size=(3, 45)), np.ones(200)])
    html = report.compare(tmp_path / "r.html", z, wide).read_text()
    assert html.count("<svg") == 4  # too many columns for the matrix
    few = np.column_stack([z, np.ones(200)])
    assert report.compare(tmp_path / "r.html", few, z).read_text().count("<svg") == 5


def test_components_have_no_map_between_the_runs_to_draw(tmp_path):
    z, q, _ = runs(300, 3)
    found = align(np.column_stack([z, z[:, 0]]), z @ q, space="components")
    html = report.compare(
        tmp_path / "r.html", np.column_stack([z, z[:, 0]]), z @ q, alignment=found
    ).read_text()
    assert html.count("<svg") == 4


def test_the_same_runs_give_the_same_bytes(tmp_path):
    z, q, _ = runs()
    pages = [report.compare(tmp_path / f"{k}.html", z, z @ q).read_bytes() for k in range(2)]
    assert pages[0] == pages[1]
