"""Beyond the papers: how far runs with different seeds agree, which needs no ground truth."""
