"""What a pair of runs proves, in certificates and words."""

import numpy as np

from .._certificate import Certificate
from ._report import PAPER


def certificates_of(rigid: dict, linear: dict, all_pairs: bool, n: int) -> tuple[Certificate, ...]:
    """State what was checked of a pair, the agreement up to a rigid motion first."""
    believed = () if all_pairs else (f"the other rows are like the {n} compared",)
    best = min(rigid["instance_bound"], rigid["uniform_bound"])
    gaussian = int(linear["curvature"].gaussian.sum())
    return (
        Certificate(
            f"Agreement up to a rigid motion, from distances ({PAPER}, Theorem 1 on the sample)",
            not rigid["vacuous"],
            believed,
            (
                f"distances change by at most {rigid['delta']:.3g} diameters, so that some rigid motion is "
                f"within {best:.3g}; the least-squares one is within {rigid['measured_worst']:.3g}",
            ),
        ),
        Certificate(
            f"An invertible linear map between the runs ({PAPER}, Lemma A.5)",
            bool(np.isfinite(linear["k_whitening"])),
            believed,
            (
                f"K_w = {linear['k_whitening']:.3g}"
                if np.isfinite(linear["k_whitening"])
                else "the widths differ, or some direction has no variance",
            ),
        ),
        Certificate(
            f"At most one Gaussian component, curvature above 0 ({PAPER}, Lemma A.8)",
            bool(linear["curvature"].gamma > 0 and gaussian <= 1),
            believed,
            (f"gamma = {linear['curvature'].gamma:.3g}, and {gaussian} components look Gaussian",),
        ),
        Certificate(
            f"Agreement of ICA components up to order and sign ({PAPER}, Theorem 2)",
            not linear["ica_vacuous"] and gaussian <= 1,
            (*believed, "the ICA optima of both runs correspond", "epsilon is small (first order)"),
            (f"K epsilon + K' epsilon^2 = {linear['ica_bound']:.3g} standard deviations",),
        ),
    )


def identifies(certificates: tuple[Certificate, ...], rigid: dict, linear: dict, scale: bool) -> str:
    """Say the most that is proved."""
    best = min(rigid["instance_bound"], rigid["uniform_bound"])
    if certificates[3]:
        return (
            "After whitening and ICA the runs agree latent by latent, up to order and sign, within "
            f"{linear['ica_bound']:.2g} standard deviations."
        )
    if certificates[0]:
        return (
            f"The runs agree up to a rotation, reflection and translation{' and a scale' if scale else ''}, "
            f"within {best:.2g} diameters at every row."
        )
    return (
        "Nothing is proved for this pair: distances change too much for the bounds. The measured error up to "
        f"a rigid motion is {rigid['measured_mean']:.2g} diameters on average."
    )


def missing(certificates: tuple[Certificate, ...]) -> tuple[str, ...]:
    """Say what would have to hold for more."""
    wishes = (
        "distances that change less between the runs (or scale=True, if they differ by a factor)",
        "as many latents in both runs, and no direction without variance",
        "components that are not Gaussian",
        "a smaller worst error of the best linear map, or bounded latents with more even variances",
    )
    return tuple(wish for wish, part in zip(wishes, certificates, strict=True) if not part)
