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
