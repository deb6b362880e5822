"""Networks and codes that tests of torch functions draw."""

import torch


def seeded(make, *args, seed=0, **options):
    """Build a network from a seed, in double precision."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return make(*args, **options).double()


def points(n, d, seed=1):
    """Normal codes in double precision."""
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def slopes(terms, parameters, held=None, step=1e-6):
    """Return, for each term, its slope along one random direction: by its gradient and by differences.

    `terms` returns the terms where the parameters are; `held`, where given, returns those that differences
    are taken of, with what the gradient holds constant held.
    """
    parameters = list(parameters)
    along = [points(1, p.numel(), seed).reshape(p.shape) for seed, p in enumerate(parameters)]
    found = {}
    for name, value in terms().items():
        gradient = torch.autograd.grad(value, parameters, allow_unused=True, retain_graph=True)
        found[name] = sum(float((g * d).sum()) for g, d in zip(gradient, along, strict=True) if g is not None)
    ahead, behind = (_at(held or terms, parameters, along, side) for side in (step, -step))
    return {name: (slope, (ahead[name] - behind[name]) / (2 * step)) for name, slope in found.items()}


def _at(terms, parameters, along, step):
    """Return the terms a step along a direction from where the parameters are."""
    with torch.no_grad():
        for p, d in zip(parameters, along, strict=True):
            p.add_(step * d)
    values = {name: value.item() for name, value in terms().items()}
    with torch.no_grad():
        for p, d in zip(parameters, along, strict=True):
            p.sub_(step * d)
    return values
