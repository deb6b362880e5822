import numpy as np
import pytest

import unmix as library
from unmix.data import slots

FIT = ("--method", "slots", "--n-components", 4, "--max-iter", 2)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("slots") / "data.npz"
    np.savez(path, x=slots(300, 2, 2, n_rows=6, random_state=0).x)
    return path


@pytest.mark.parametrize(("given", "expected"), [("2", [[0, 1], [2, 3]]), ("0,3/1,2", [[0, 3], [1, 2]])])
def test_slots_are_given_as_a_number_or_as_lists(given, expected, table, tmp_path, unmix_json):
    document = unmix_json("fit", table, *FIT, "--slots", given, "--out", tmp_path / "model")
    model = library.load(tmp_path / "model")
    assert document["method"] == "SlotAutoencoder" and document["partition"] == expected
    assert [list(slot) for slot in model.partition_] == expected
    x = np.load(table)["x"]
    slots_there = 2 if given == "2" else expected
    direct = library.SlotAutoencoder(4, slots=slots_there, max_iter=2, random_state=0).fit(x)
    np.testing.assert_array_equal(direct.transform(x), model.transform(x))


def test_slots_are_counted_where_nobody_did_and_told(table, tmp_path, unmix):
    result = unmix("fit", table, *FIT, "--out", tmp_path / "model")
    n_slots = len(library.load(tmp_path / "model").partition_)
    assert result.code == 0 and f"{n_slots} slot" in result.out and "z0" in result.out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("--slots", "3"), "`slots` must divide n_components=4, got 3"),
        (("--slots", "0,1/1,2"), "`slots` must hold each of 4 latents once"),
        (("--slots", "two"), "`--slots` must hold numbers"),
        (("--method", "ae", "--slots", "2"), "`--slots` must be left out for --method ae"),
    ],
    ids=["do not divide", "twice", "words", "not used"],
)
def test_slots_that_can_not_be_used_are_refused(line, message, table, tmp_path, unmix):
    result = unmix("fit", table, *FIT, *line, "--out", tmp_path / "model")
    assert result.code == 2 and message in result.err and not (tmp_path / "model").exists()
