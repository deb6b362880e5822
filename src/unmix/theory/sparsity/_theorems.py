"""The theorems of diverse dictionary learning, as certificates for one structure."""

from typing import Any

import numpy as np

from .._certificate import Certificate, names
from ._triangular import FAITHFUL

NONLINEAR = "sufficient nonlinearity of the mixing (Assumption 1, first half)"
POSITIVE = "a positive density of latents"
SPARSE = "an estimate that fits and has at most as many edges as the truth"
SPARSE_GROUPS = f"{SPARSE}, counted between latents and groups"
MODEL = "x = g(z) without noise, with g injective and smooth (Eq. 1)"
INDEPENDENT = "independent latents, in truth and in the estimated model"


def assumptions(certificate: Any) -> tuple[str, ...]:
    """Return what every conclusion from sparsity rests on.

    Faithfulness is always part of it: where models of another kind are counted and none is as sparse, it is
    mild, but the count is for generic mixing.
    """
    sparse = SPARSE if certificate.groups is None else SPARSE_GROUPS
    independent = (INDEPENDENT,) if certificate.independent_latents else ()
    return (NONLINEAR, POSITIVE, sparse, FAITHFUL, MODEL, *independent)


def certificates(certificate: Any) -> tuple[Certificate, ...]:
    """Return Theorems 1 to 3 and Assumption 2 for a structure; see `StructureCertificate`."""
    return (
        Certificate(
            "DDL Theorem 2 (the structure is identified up to relabelling of latents)",
            True,
            assumptions(certificate),
            ("it needs nothing of the structure",),
        ),
        Certificate(
            "DDL Theorem 1, cases (i) and (iii) (intersections and complements are separated)",
            True,
            assumptions(certificate),
            ("z_i is a function of the estimates of those latents only whose children contain its own",),
        ),
        _symmetric_difference(certificate),
        _diversity(certificate),
        _elements(certificate),
    )


def _symmetric_difference(certificate: Any) -> Certificate:
    """Case (ii) does not follow for strictly nested children unless the smaller one is known alone."""
    broken = np.argwhere(certificate.separated_in_paper & certificate.may_depend).tolist()
    reason = mixing(certificate, *broken[0]) if broken else "no latent is left below another"
    theorem = "DDL Theorem 1, case (ii) (symmetric differences are separated from intersections)"
    return Certificate(theorem, not broken, assumptions(certificate), (reason,))


def mixing(certificate: Any, i: int, j: int) -> str:
    """Name a change of latents that mixes z_j into z_i and changes neither the data nor the structure."""
    nested = f"the children of z{i} are part of those of z{j}"
    if certificate.independent_latents:
        return f"{nested}, so the block of z{i} may be rotated by an angle that depends on z{j}"
    return f"{nested}, so a multiple of z{j} may be added to z{i}"


def _diversity(certificate: Any) -> Certificate:
    failing = [latent for latent, met in enumerate(certificate.clauses) if not met]
    reasons = (f"no clause holds for {names(failing)}",) if failing else ("every latent meets a clause",)
    return Certificate("DDL Assumption 2 (sufficient diversity)", not failing, (), reasons)


def _elements(certificate: Any) -> Certificate:
    """Theorem 3 as far as it can be proved: clauses 1 and 2 need independence; then unique children do."""
    left = [latent for latent, level in enumerate(certificate.levels) if level != "element"]
    reason = (
        f"{names(left)} may be mixed with others" if left else "each latent depends on its estimate alone"
    )
    theorem = "DDL Theorem 3 (every latent is identified alone)"
    return Certificate(theorem, not left, assumptions(certificate), (reason,))
