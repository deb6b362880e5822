import numpy as np
import pytest

import unmix as library
from unmix.data import multi_domain
from unmix.theory import certify_domains

FIT = ("--n-components", 3, "--max-iter", 2, "--n-restarts", 1)


@pytest.fixture(scope="module")
def data():
    return multi_domain(240, 3, n_domains=3, random_state=0)


@pytest.fixture
def table(data, tmp_path):
    lines = [",".join([*(f"x{k}" for k in range(6)), "batch"])]
    lines += [
        ",".join(map(str, [*row, label])) for row, label in zip(data.x.tolist(), data.u.tolist(), strict=True)
    ]
    (tmp_path / "table.csv").write_text("\n".join(lines))
    return tmp_path / "table.csv"


@pytest.mark.parametrize(("method", "name"), [("cgvae", "CGVAE"), ("ivae", "IVAE")])
def test_a_column_of_the_table_says_which_domain_a_row_is_from(method, name, table, data, unmix_json):
    out = table.parent / "model"
    page = table.parent / "page.html"
    document = unmix_json(
        "fit", table, "--method", method, *FIT, "--domains", "batch", "--out", out, "--report", page
    )
    model = library.load(out)
    assert document["method"] == name and document["domains"] == [0, 1, 2]
    assert model.feature_names_in_.tolist() == [f"x{k}" for k in range(6)]
    np.testing.assert_array_equal(document["guaranteed"], model.guaranteed_)
    direct = type(model)(3, max_iter=2, n_restarts=1, random_state=0).fit(data.x, domains=data.u)
    del model.feature_names_in_  # the arrays here have none
    np.testing.assert_array_equal(direct.transform(data.x), model.transform(data.x))
    if model.structure_.support.any(0).all():  # a latent without children has no certificate
        assert certify_domains(model.structure_, 3).identifies in page.read_text(encoding="utf-8")
    assert model.guaranteed_.any()


def test_domains_may_lie_in_a_file_of_their_own(data, tmp_path, unmix):
    np.savez(tmp_path / "data.npz", x=data.x, u=data.u)
    line = ("fit", tmp_path / "data.npz", "--method", "cgvae", *FIT)
    result = unmix(*line, "--domains", f"{tmp_path}/data.npz:u", "--out", tmp_path / "model")
    assert result.code == 0 and "3 domains guarantee" in result.out and "If this graph" in result.out
    assert library.load(tmp_path / "model").n_features_in_ == 6


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("--method", "cgvae"), "`--domains` must name a column of X or a file for --method cgvae"),
        (("--method", "ddl", "--domains", "batch"), "`--domains` must be left out for --method ddl"),
        (("--method", "ivae", "--domains", "hospital"), "must be a column of X or a file, got 'hospital'"),
        (("--method", "ivae", "--domains", "batch", "--weight", 1), "`--weight` must be left out"),
        (("--method", "cgvae", "--domains", "x0"), "at least 4 samples each"),
    ],
    ids=["none", "not used", "no such column", "no such setting", "every row its own"],
)
def test_domains_that_can_not_be_used_are_refused(line, message, table, unmix):
    if "x0" in line:
        rows = table.read_text().splitlines()
        table.write_text(
            "\n".join([rows[0], *(f"{k},{row.partition(',')[2]}" for k, row in enumerate(rows[1:]))])
        )
    result = unmix("fit", table, *FIT, *line, "--out", table.parent / "model")
    assert result.code == 2 and message in result.err
