"""Mechanistic independence: slots of latents whose effects overlap.

Matthes, Han and Shen (2026), Mechanistic independence: a principle for identifiable disentangled
representations, arXiv:2509.22196.
"""
