"""Problems whose solution and multipliers follow from the Karush-Kuhn-Tucker conditions by hand."""

import pytest
import torch

from unmix.training import minimise_constrained


def _solve(objective, constraint, n, epsilon, **options):
    p = torch.zeros(n, requires_grad=True)
    settings = {"n_steps": 800, "lr": 0.03, "dual_lr": 0.03, "schedule": "cosine"} | options
    history = minimise_constrained(
        lambda _: objective(p), lambda _: constraint(p), {"p": p}, [None], epsilon=epsilon, **settings
    )
    return p.detach(), {name: values[-1] for name, values in history.extras.items()}, history


@pytest.mark.parametrize(("distance", "radius"), [(1.5, 1.0), (2.0, 0.8), (3.0, 1.0)])
def test_projection_on_a_ball(distance, radius):
    """min |p - c|^2 s.t. |p|^2 <= r^2: p = r c/|c|, multiplier |c|/r - 1."""
    c = distance * torch.tensor([0.6, -0.8])
    p, last, _ = _solve(lambda p: ((p - c) ** 2).sum(), lambda p: (p**2).sum(), 2, radius**2)
    assert p.tolist() == pytest.approx((radius * c / c.norm()).tolist(), abs=1e-2)
    assert last["multiplier"] == pytest.approx(distance / radius - 1, rel=2e-2)


def test_projection_on_the_l1_ball_is_soft_thresholding():
    """min |p - c|^2 s.t. |p|_1 <= 1 with c = (1, .5, -.2): threshold .25, multiplier .5, an exact zero."""
    c = torch.tensor([1.0, 0.5, -0.2])
    p, last, _ = _solve(lambda p: ((p - c) ** 2).sum(), lambda p: p.abs().sum(), 3, 1.0)
    assert p.tolist() == pytest.approx([0.75, 0.25, 0.0], abs=5e-3)
    assert last["multiplier"] == pytest.approx(0.5, abs=1e-2)


def test_a_constraint_that_does_not_bind_has_multiplier_zero():
    c = torch.tensor([0.3, -0.2])
    p, last, history = _solve(lambda p: ((p - c) ** 2).sum(), lambda p: (p**2).sum(), 2, 1.0, n_steps=600)
    assert p.tolist() == pytest.approx(c.tolist(), abs=1e-3)
    assert last["multiplier"] == 0.0 and min(history.extras["multiplier"]) >= 0.0


def test_each_of_several_bounds_has_its_own_multiplier():
    """min |p - (2, 3)|^2 s.t. p <= (1, 5): only the first bound binds, multiplier 2."""
    c = torch.tensor([2.0, 3.0])
    p, last, _ = _solve(lambda p: ((p - c) ** 2).sum(), lambda p: p, 2, [1.0, 5.0])
    assert p.tolist() == pytest.approx([1.0, 3.0], abs=1e-2)
    assert [last["multiplier 0"], last["multiplier 1"]] == pytest.approx([2.0, 0.0], abs=2e-2)
    assert [last["constraint 0"], last["constraint 1"]] == pytest.approx([1.0, 3.0], abs=1e-2)


def test_extra_gradient_steps_approach_the_saddle_of_a_linear_game():
    """min x s.t. x >= 1 has the Lagrangian x + m (1 - x), around whose saddle (1, 1) plain steps circle."""
    p, last, _ = _solve(
        lambda p: p.sum(), lambda p: -p.sum(), 1, -1.0, betas=(0.0, 0.99), lr=0.02, dual_lr=0.02, n_steps=1500
    )
    assert p.item() == pytest.approx(1.0, abs=1e-2)
    assert last["multiplier"] == pytest.approx(1.0, abs=1e-2)


def test_one_step_equals_extra_adam_by_hand():
    """Two half-steps of Adam that share moments, the second from where the first began."""
    x = torch.tensor([2.0], requires_grad=True, dtype=torch.float64)
    minimise_constrained(
        lambda _: (x**2).sum(),
        lambda _: x.sum(),
        {"x": x},
        [None],
        epsilon=0.5,
        n_steps=2,
        lr=0.1,
        dual_lr=0.2,
    )

    def adam(state, gradient, rate):
        state["t"] += 1
        state["m"] = 0.9 * state["m"] + 0.1 * gradient
        state["v"] = 0.999 * state["v"] + 0.001 * gradient**2
        corrected = state["m"] / (1 - 0.9 ** state["t"]), state["v"] / (1 - 0.999 ** state["t"])
        return rate * corrected[0] / (corrected[1] ** 0.5 + 1e-8)

    primal, dual = ({"t": 0, "m": 0.0, "v": 0.0} for _ in range(2))
    point, multiplier = 2.0, 0.0
    for _ in range(2):
        ahead = point - adam(primal, 2 * point + multiplier, 0.1)
        multiplier_ahead = max(0.0, multiplier + adam(dual, point - 0.5, 0.2))
        point = point - adam(primal, 2 * ahead + multiplier_ahead, 0.1)
        multiplier = max(0.0, multiplier + adam(dual, ahead - 0.5, 0.2))
    assert x.item() == pytest.approx(point, abs=1e-9)


def test_a_named_term_serves_as_the_constraint():
    c, p = torch.tensor([1.0, 0.5, -0.2]), torch.zeros(3, requires_grad=True)
    q, _, by_callable = _solve(lambda q: ((q - c) ** 2).sum(), lambda q: q.abs().sum(), 3, 1.0, n_steps=50)
    history = minimise_constrained(
        lambda _: {"objective": ((p - c) ** 2).sum(), "size": p.abs().sum()}, "size", {"p": p}, [None],
        epsilon=1.0, n_steps=50, lr=0.03, dual_lr=0.03, schedule="cosine",
    )  # fmt: skip
    assert torch.equal(p.detach(), q)
    assert history.terms == by_callable.terms and history.extras == by_callable.extras
    assert history.objective == history.terms["objective"]


def test_nan_constraint_is_named():
    p = torch.ones(1, requires_grad=True)
    with pytest.raises(FloatingPointError, match="term `constraint` must stay finite, got nan at step 0"):
        minimise_constrained(
            lambda _: p.sum(), lambda _: p.sum() * float("nan"), {"p": p}, [0], epsilon=0.0, n_steps=5
        )


def test_bad_arguments_say_what_to_do():
    p = torch.ones(2, requires_grad=True)
    run = {"parameters": {"p": p}, "batches": [0], "n_steps": 1}
    f = lambda _: (p**2).sum()  # noqa: E731
    with pytest.raises(ValueError, match=r"one value per bound, shape \(\), got \(2,\)"):
        minimise_constrained(f, lambda _: p, **run, epsilon=1.0)
    with pytest.raises(ValueError, match=r"one value per bound, shape \(3,\), got \(2,\)"):
        minimise_constrained(f, lambda _: p, **run, epsilon=[1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="`epsilon` must be a finite number"):
        minimise_constrained(f, lambda _: p.sum(), **run, epsilon=float("nan"))
    with pytest.raises(ValueError, match="`constraint` must name one of several terms"):
        minimise_constrained(lambda _: {"f": f(0)}, "g", **run, epsilon=1.0)
