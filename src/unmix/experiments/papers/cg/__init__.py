"""Sufficient changes and sparse mixing: latents that change between domains, from two to eight of them.

Li et al. (2025), Synergy between sufficient changes and sparse mixing procedure for disentangled
representation learning, arXiv:2503.00639.
"""
