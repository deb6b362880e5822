"""Finest partitions against all partitions of up to five latents; factor graphs; differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmix.theory import certify_mechanisms, factor_graph, finest_partition, finite_differences


def set_partitions(members):
    """Every partition of a list into non-empty sets."""
    if not members:
        yield []
        return
    first, rest = members[0], members[1:]
    for partition in set_partitions(rest):
        yield [{first}, *partition]
        for k, block in enumerate(partition):
            yield [*partition[:k], block | {first}, *partition[k + 1 :]]


def finest_by_definition(jacobians, kind, **given):
    """The partition of this type that is finer than every other of this type."""
    latents = list(range(jacobians.shape[2]))
    passing = [p for p in set_partitions(latents) if certify_mechanisms(jacobians, p, **given)[kind]]
    finest = max(passing, key=len)
    assert all(any(small <= block for block in other) for other in passing for small in finest)
    return {frozenset(block) for block in finest}


@st.composite
def sparse_jacobians(draw, rows, d):
    n = draw(st.integers(1, 2))
    entries = st.lists(
        st.sampled_from([-1.0, 0.0, 0.0, 0.0, 2.0]), min_size=n * rows * d, max_size=n * rows * d
    )
    return np.array(draw(entries)).reshape(n, rows, d)


@given(sparse_jacobians(6, 5), st.sampled_from(["D", "M"]))
def test_finest_is_the_finest_of_all_partitions(jacobians, kind):
    found = finest_partition(jacobians, kind)
    assert found.exact and set(found.partition) == finest_by_definition(jacobians, kind, search=0)


@given(sparse_jacobians(7, 3))
def test_finest_sparse_is_the_finest_of_all_partitions(jacobians):
    found = finest_partition(jacobians, "S")
    assert found.exact and set(found.partition) == finest_by_definition(jacobians, "S")


@given(
    st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.0]), min_size=20, max_size=20), st.sampled_from(["H2", "H3"])
)
def test_finest_of_higher_order_is_the_finest_of_all_partitions(entries, kind):
    d = 4
    pairs = np.zeros((1, 2, d, d))
    upper = np.triu_indices(d)
    pairs[0][:, *upper] = np.reshape(entries, (2, 10))
    pairs = pairs + pairs.swapaxes(2, 3)
    jacobians = np.random.default_rng(0).normal(size=(1, 2, d))
    if kind == "H2":
        given = {"hessians": pairs}
    else:  # T_abc = Q_ab + Q_bc + Q_ca, off the diagonal of a and b alone where Q vanishes
        q = pairs[..., None] * np.eye(d)[None, None, :, None, :]
        orders = [(2, 3, 4), (2, 4, 3), (3, 2, 4), (3, 4, 2), (4, 2, 3), (4, 3, 2)]
        given = {"thirds": sum(np.transpose(q, (0, 1, *order)) for order in orders)}
    found = finest_partition(jacobians, kind, **given)
    assert found.exact and set(found.partition) == finest_by_definition(jacobians, kind, **given)


def test_a_point_more_can_only_coarsen():
    jacobians = np.zeros((2, 3, 3))
    jacobians[:] = np.eye(3)
    assert len(finest_partition(jacobians, "D")) == 3
    jacobians[1, 0, 1] = 1
    assert [sorted(block) for block in finest_partition(jacobians, "D").partition] == [[0, 1], [2]]


def test_margins_of_the_finest_partition():
    jacobian = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 1e-9], [0.0, 0.0, 1.0]])
    found = finest_partition(jacobian, "D")
    assert [sorted(block) for block in found.partition] == [[0, 1], [2]]
    assert found.margin == pytest.approx(3)  # from 1e-6 down to 1e-9; up to 0.5 are five decades and more
    assert finest_partition(jacobian, "D", tolerance=0.6).partition == tuple(map(frozenset, ([0], [1], [2])))
    assert finest_partition(jacobian, "M").margin is None


def test_factor_graphs():
    jacobians = [[[4.0, 0.0, 0.0], [1.0, 2.0, 0.0], [0.0, 1.0, 5.0]]]
    assert factor_graph(jacobians, "D") == pytest.approx(
        np.array([[0, 0.25, 0], [0.25, 0, 0.5], [0, 0.5, 0]])
    )
    assert factor_graph(jacobians, "M").tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0]]
    hessians = np.zeros((1, 3, 3, 3))
    hessians[0, 1] = [[4, 0, 1], [0, 2, 0], [1, 0, 0]]
    assert factor_graph(jacobians, "H2", hessians=hessians)[0].tolist() == [0, 0, 0.25]
    tied = [[[1.0, 0.0], [1.0, 1.0], [1.0, 1.0], [0.0, 1.0]]]  # z0 - z1 moves two rows, as few as it gets
    assert factor_graph(tied, "S").tolist() == [[0, 1], [1, 0]]
    assert factor_graph([[[1.0, 0.0], [0.0, 1.0]]], "S").tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_differences_of_a_known_function(order):
    z = np.random.default_rng(0).normal(size=(4, 3))
    a = np.random.default_rng(1).normal(size=(2, 3))
    found = finite_differences(lambda z: np.sin(z @ a.T), z, order)
    outer = {1: a, 2: np.einsum("xi,xj->xij", a, a), 3: np.einsum("xi,xj,xk->xijk", a, a, a)}[order]
    wave = {1: np.cos, 2: lambda t: -np.sin(t), 3: lambda t: -np.cos(t)}[order](z @ a.T)
    expected = wave.reshape(4, 2, *(1,) * order) * outer
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < {1: 1e-8, 2: 1e-6, 3: 1e-4}[order]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: finest_partition(np.eye(2), "H4"), "`kind` must be one of"),
        (lambda: finest_partition(np.eye(2), "H2"), "`hessians` must be given"),
        (lambda: factor_graph(np.eye(2), "H3"), "`thirds` must be given"),
        (lambda: finest_partition(np.ones(2)), "`jacobians` must have shape"),
        (lambda: finest_partition(np.eye(2), tolerance=2), "`tolerance`"),
        (lambda: finite_differences(np.sin, np.ones((2, 2)), 4), "`order` must be 1, 2 or 3"),
        (lambda: finite_differences(np.sin, np.ones(2)), "`z` must be a finite"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
