"""The benchmark of domains keeps what it measured and goes on where it stopped; pictures can be drawn."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def domains(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("domains")


@pytest.fixture
def measured(domains):
    rows = ("A-4x4 U=2", "B-4x4 U=2", "D-4x4 U=9", "D-4x4 U=2")
    return [record(row, seed, method) for row in rows for seed in (0, 1) for method in domains.METHODS]


def record(row, seed, method):
    base = {"row": row, "seed": seed, "method": method, "pooled": 0.9, "seconds": 2.0 + seed}
    if method == "reference":
        twins = row == "D-4x4 U=2"
        known = {"promised": [not twins] * 4, "may_depend": np.ones((4, 4)).tolist()}
        return base | known | {"within": 0.5, "floor": 0.4, "contained": np.ones((4, 4)).tolist()}
    each = [0.97, 0.98, 0.96, 0.94 + 0.02 * seed]
    within = {"cgvae": 0.97, "ivae": 0.6, "not_sparse": 0.7}[method]
    return base | {"within": within, "each": each, "shd": seed, "correlation": np.eye(4).tolist()}


def test_a_row_of_the_table_holds_the_means_and_what_was_promised(domains, measured):
    found = {of["row"]: of for of in domains.summary(measured)}
    sparse, dense = found["A-4x4 U=2"], found["D-4x4 U=2"]
    assert (sparse["kept"], sparse["promised"], sparse["as_predicted"]) == (7, 8, pytest.approx(7 / 8))
    assert (dense["kept"], dense["promised"], dense["as_predicted"]) == (0, 0, pytest.approx(1 / 8))
    assert domains.summary([r for r in measured if r["method"] != "reference"]) == []
    line = domains.table(measured).splitlines()[2]
    assert line.startswith(
        "| A-4x4 U=2 | 0.970 ± 0.000 | 0.970 | 0.900 | 0.700 | 0.600 | 0.900 | 0.500 | 0.400 |"
    )
    assert line.endswith("| 7/8 | 88% | 1/2 | 2 |")


def test_what_was_measured_is_kept_and_not_measured_again(domains, measured, tmp_path, monkeypatch, capsys):
    lines, out = tmp_path / "domains.jsonl", tmp_path / "domains.json"
    for result in measured[:3]:
        domains.keep(lines, result)
    lines.write_text(lines.read_text() + '{"row": "A-4x4 U=2", "se')  # killed while writing
    domains.keep(lines, measured[2])
    assert domains.stored(lines) == measured[:3]
    monkeypatch.setattr(
        "sys.argv",
        ["x", "--rows", "A-4x4 U=2", "--out", str(out), "--first-seed", "0", "--seeds", "1", "--plan"],
    )
    domains.main()
    planned = capsys.readouterr().out.splitlines()
    n = sum(row.startswith("A-4x4 U=2") for row in domains.ROWS)
    assert len(planned) == 4 * n - 3  # methods for each row, less what is there
    costs = [float(line.split()[0]) for line in planned]
    assert costs == [0.1] * n + [6.0] * (n - 1) + [2.0] * (2 * n - 2)  # references, then the longest
    domains.gather(lines, out)
    assert {r["method"] for r in json.loads(out.read_text())} == {r["method"] for r in measured[:3]}


def test_a_reference_says_what_theory_promises(domains, monkeypatch):
    monkeypatch.setattr(domains, "PER_DOMAIN", 200)
    monkeypatch.setattr(domains, "N_FRESH", 300)
    found = domains.measure(("D-4x4 U=2", 3, "reference", "cpu"))
    assert found["promised"] == [False] * 4 and np.all(found["may_depend"])
    assert 0 < found["floor"] < found["pooled"] + 1 and 0 < found["within"] < 1


def test_the_pictures_are_drawn_from_what_was_measured(domains, measured, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs/img"))
    draw = importlib.import_module("draw_domains")
    found = domains.summary(measured)
    dense = draw.draw_counts(found).axes[1]
    np.testing.assert_allclose(dense.lines[0].get_xydata(), [[2, 0.97], [9, 0.97]])
    figure = draw.draw_entanglement(found)
    assert [ax.get_title() for ax in figure.axes[:3]] == [
        "graph A, 2 domains",
        "graph B, 2 domains",
        "graph D, 2 domains",
    ]
    np.testing.assert_array_equal(figure.axes[3].images[0].get_array(), np.eye(4))
