"""The language of `--control`: what it says, and that nothing else is ever run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmix.deconfound import matching

ROWS = {
    "gene": np.array(["EMPTY", "PLK1", "it's", None], dtype=object),
    "dose": np.array([0.0, 1.0, 2.0, np.nan]),
    "plate no": np.array([1, 2, 3, 4]),
    "site": np.array(["1", "2", "3", "x"], dtype=object),
}


@pytest.mark.parametrize(
    ("query", "chosen"),
    [
        ("gene == 'EMPTY'", [0]),
        ('gene == "it\'s"', [2]),
        (r"gene == 'it\'s'", [2]),
        ("gene != 'EMPTY'", [1, 2, 3]),
        ("gene in ['EMPTY', 'PLK1']", [0, 1]),
        ("gene not in ('EMPTY',)".replace(",)", ")"), [1, 2, 3]),
        ("dose >= 1", [1, 2]),
        ("dose < 1e0 or `plate no` == 4", [0, 3]),
        ("not dose > 0 and `plate no` <= 2", [0]),
        ("gene == 'EMPTY' or gene == 'PLK1' and dose == 0", [0]),
        ("(gene == 'EMPTY' or gene == 'PLK1') and dose == 1", [1]),
        ("site == 2", [1]),
        ("`plate no` == '3'", [2]),
    ],
)
def test_expressions_choose_rows(query, chosen):
    assert np.flatnonzero(matching(query, ROWS)).tolist() == chosen


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1), st.sampled_from(["a", "b", "z"]))
def test_not_and_unequal_are_the_complement(column, value):
    rows = {"c": np.array(column)}
    same = matching(f"c == '{value}'", rows)
    assert (matching(f"not c == '{value}'", rows) == ~same).all()
    assert (matching(f"c != '{value}'", rows) == ~same).all()
    assert (matching(f"c in ['{value}']", rows) == same).all()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("__import__('os').system('true')", "must name columns that exist"),
        ("gene = 'EMPTY'", "expected a name, a number"),
        ("gene == EMPTY", "a number or quoted text"),
        ("gene == 'EMPTY' gene", "expected the end"),
        ("(gene == 'EMPTY'", "expected ')'"),
        ("gene in 'EMPTY'", "expected '['"),
        ("gene > 3", "numbers on both sides"),
        ("gne == 'EMPTY'", "got 'gne'. They are: gene, dose"),
        ("", "the name of a column"),
        ("gene", "a comparison"),
    ],
)
def test_what_is_no_expression_is_refused_in_one_line(query, words):
    with pytest.raises(ValueError, match="`control` must") as error:
        matching(query, ROWS)
    assert words in str(error.value) and "\n" not in str(error.value)
