"""The synthetic experiments of diverse dictionary learning.

Zheng et al. (2026), Diverse dictionary learning, arXiv:2604.17568, Section 4.1 and appendix.
"""
