"""Frequencies of edges and verdicts over structures of the same data."""

import json

import numpy as np
import pytest

from unmix.structure import Structure, diverse, ring
from unmix.theory import certify, stability

NESTED = Structure([[1, 1], [0, 1], [0, 1]])
APART = Structure([[1, 1], [1, 0], [0, 1]])


def noisy(structure, count, flips, seed=0):
    """Copies with some entries flipped and latents relabelled."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        support = structure.support ^ (rng.random(structure.shape) < flips)
        yield Structure(support).permute(rng.permutation(structure.n_latents))


def test_frequencies_are_means_after_matching():
    found = stability([NESTED, APART, APART.permute([1, 0]), APART], reference=APART)
    np.testing.assert_allclose(found.frequencies, [[1, 1], [0.75, 0.25], [0, 1]])
    assert found.orders == ((0, 1), (0, 1), (1, 0), (0, 1))
    np.testing.assert_allclose(found.separated, [[0, 0.75], [1, 0]])
    assert found.level_frequencies == {
        "element": (0.75, 1.0),
        "element if independent": (0.25, 0.0),
        "block": (0.0, 0.0),
        "none": (0.0, 0.0),
    }
    assert found.levels == ("element", "element") and found.support == (0.75, 1.0)


def test_independence_makes_both_verdicts_certain():
    found = stability([NESTED, APART, APART], reference=APART, independent_latents=True)
    assert found.support == (1.0, 1.0) and not found  # edges differ, verdicts do not
    assert not found.certificates[0] and found.certificates[1]


def test_verdict_frequencies_are_those_of_certifying_each_structure():
    structure = diverse(8, 4, random_state=0)
    runs = [run for run in noisy(structure, 30, 0.06) if run.support.any(0).all()]
    found = stability(runs, reference=structure)
    matched = [run.permute(structure.match(run).order) for run in runs]
    certificates = [certify(run) for run in matched]
    np.testing.assert_allclose(found.frequencies, np.mean([run.support for run in matched], axis=0))
    np.testing.assert_allclose(found.separated, np.mean([~c.may_depend for c in certificates], axis=0))
    for j in range(4):
        share = np.mean([c.levels[j] == "element" for c in certificates])
        assert found.level_frequencies["element"][j] == pytest.approx(share)
        total = sum(frequencies[j] for frequencies in found.level_frequencies.values())
        assert total == pytest.approx(1)


def test_the_majority_recovers_the_structure_behind_noise():
    structure = diverse(12, 4, random_state=1)
    found = stability(noisy(structure, 40, 0.1))
    assert structure.hamming(found.structure) == 0
    assert structure.hamming(found.stable(0.7)) == 0 and not found
    assert 0.8 < found.frequencies[found.structure.support].mean() < 0.97


def test_an_odd_first_structure_does_not_lead_astray():
    odd = Structure(np.ones((4, 4)))
    assert stability([odd, *[ring(4)] * 6]).structure.hamming(ring(4)) == 0


def test_latents_without_children_are_known_not_at_all():
    dead = Structure([[1, 0], [1, 0], [0, 0]])
    found = stability([dead, APART], reference=APART)
    assert found.level_frequencies["none"][1] == 0.5 and found.support == (1.0, 0.5)
    assert found.separated[0, 1] == 0.5  # nothing is free of a latent that was not found
    empty = stability([Structure([[0]]), Structure([[0]])])
    assert empty.levels == ("none",) and "0 of 1" in empty.identifies


def test_unidentified_latents_have_no_level():
    found = stability([Structure(np.ones((2, 2)))] * 2)
    assert found.levels == ("none", "none") and found.level_frequencies["block"] == (0.0, 0.0)


def test_thresholds_of_one_jacobian():
    J = np.array([[1.0, 0.3], [0.0, 1.0], [0.6, 1.0]])
    found = stability([Structure.from_jacobian(J, cut) for cut in (0.1, 0.2, 0.4, 0.5)], threshold=0.8)
    assert found.undecided == ((0, 1),) and found.frequencies[0, 1] == 0.5
    assert not found and "z1 to x0 (50%)" in found.reasons[-1] and found.missing


def test_selection_and_its_error_bound():
    found = stability([NESTED, APART, APART, APART], reference=APART)
    assert found.stable(1.0) == Structure([[1, 1], [0, 0], [0, 1]])
    assert found.stable(0.75) == APART and found.stable() == found.stable(0.9)
    assert found.expected_false_edges(0.75) == pytest.approx(4**2 / (0.5 * 6))
    with pytest.raises(ValueError, match=r"above 0\.5"):
        found.expected_false_edges(0.5)


def test_text_and_dict():
    found = stability([NESTED, APART, APART], reference=APART)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["n_structures"] == 3 and document["support"] == pytest.approx([2 / 3, 1])
    assert document["separated"][1] == [1.0, 0.0] and document["levels"] == ["element", "element"]
    assert "z0 has the level 'element' or a better one in 67% of the structures" in str(found)
    assert "2 of 2 latents" in found.identifies and "67%" in found.identifies


@pytest.mark.parametrize(
    ("structures", "how", "error", "words"),
    [
        ([APART], {}, ValueError, "at least two"),
        ([], {}, ValueError, "at least two"),
        ([APART, ring(3)], {}, ValueError, "one shape"),
        ([APART, APART], {"reference": ring(3)}, ValueError, "one shape"),
        ([APART, [[1, 0]]], {}, TypeError, "got list"),
        ([APART, APART], {"threshold": 0.5}, ValueError, "`threshold`"),
    ],
)
def test_bad_input_is_named(structures, how, error, words):
    with pytest.raises(error, match=words):
        stability(structures, **how)
