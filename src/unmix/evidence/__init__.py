"""Evidence: a fitted model and its data become one calibrated verdict for each latent.

An argument (sparsity, a mixture, domains, slots, independence) is a chain of links from the data to the
latent; each link is measured beside what noise would score, and the chain is calibrated on worlds whose
latents are known.
"""

from ._argument import ARGUMENTS, ARGUMENTS_BY_KIND, Argument, argument_for, units_of
from ._case import Case
from ._chain import Chain, calibrate
from ._link import EFFORTS, Link, link, unchecked
from ._trust import Trust, trust, verdict_or_reason

__all__ = [
    "trust",
    "Trust",
    "verdict_or_reason",
    "Link",
    "link",
    "unchecked",
    "Case",
    "Chain",
    "calibrate",
    "Argument",
    "ARGUMENTS",
    "ARGUMENTS_BY_KIND",
    "argument_for",
    "units_of",
    "EFFORTS",
]
