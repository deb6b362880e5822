"""The numerical experiments on potentially degenerate Gaussian mixtures.

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, Section 5 and appendices D and E.
"""
