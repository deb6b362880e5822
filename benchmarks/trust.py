"""What a verdict costs: `unmix.trust` at each effort against the fit that it judges.

Processor seconds of one thread. Goals: at most the time of the fit again at effort quick, and three times
that at full.
"""

from typing import Any

import torch
from _table import judged, keep, parser, show, timed

import unmix
from unmix.data import degenerate_mixture, multi_domain, slots, sparse_mixing

EFFORTS = ("none", "quick", "full")
GOALS = {"quick": 1.0, "full": 3.0}


def cases() -> dict[str, tuple[Any, Any, Any]]:
    """Return a model, its data and their domains, for each kind of argument."""
    sparse, domains = sparse_mixing(3000, n_latents=4, random_state=0), multi_domain(2000, random_state=0)
    rest, parts = degenerate_mixture(700, n_latents=3, random_state=0), slots(1500, random_state=0)
    return {
        "DiverseDictionaryLearning": (unmix.DiverseDictionaryLearning(4, random_state=0), sparse.x, None),
        "CGVAE": (unmix.CGVAE(domains.z.shape[1], random_state=0), domains.x, domains.u),
        "PDGMM": (unmix.PDGMM(3, random_state=0), rest.x, None),
        "SlotAutoencoder": (unmix.SlotAutoencoder(parts.z.shape[1], random_state=0), parts.x, None),
    }


def measure(model: Any, x: Any, domains: Any) -> dict[str, float]:
    """Return the seconds of the fit and of each effort."""
    labels = () if domains is None else (domains,)
    fitted, seconds = timed(lambda: model.fit(x, *labels))
    found = {"fit": seconds["processor"]}
    for effort in EFFORTS:
        _, spent = timed(
            lambda effort=effort: unmix.trust(fitted, x, domains=domains, effort=effort, verbose=False)
        )
        found[effort] = spent["processor"]
    return found


def main() -> None:
    """Measure, show and keep."""
    asked = parser(__doc__ or "").parse_args()
    torch.set_num_threads(1)
    rows = {name: measure(*case) for name, case in cases().items()}
    show(["estimator", "fit, s", *EFFORTS], [[name, *row.values()] for name, row in rows.items()])
    worst = {effort: max(row[effort] / row["fit"] for row in rows.values()) for effort in GOALS}
    verdicts = judged(worst, GOALS)
    if asked.keep:
        keep("trust", {"seconds": rows, "verdicts": verdicts})


if __name__ == "__main__":
    main()
