"""Experiments on near-identifiability: how far independently trained models agree.

Nelson et al. (2026), Statistical and structural identifiability in representation learning,
arXiv:2603.11970.
"""
