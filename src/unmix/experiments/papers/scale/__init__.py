"""Beyond the papers: the same methods at ten times their dimensions.

At the smallest budget these tables run at the papers' own dimensions.
"""
