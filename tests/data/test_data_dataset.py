import numpy as np
import pytest

from unmix.data import LatentDataset

KNOWN_BY_SOME = ("mixing", "noise", "latents", "masks", "graph", "partition", "labels", "unrotated")


def test_two_arrays_are_a_data_set_and_what_only_a_generator_knows_is_none():
    data = LatentDataset(np.ones((4, 3)), np.ones((4, 2)))
    assert data.structure is data.u is data.world is None and data.description == ""
    assert [getattr(data, name) for name in KNOWN_BY_SOME] == [None] * 8


def test_hidden_truth_of_samples_is_read_by_name_and_cannot_be_changed_by_accident():
    data = LatentDataset(np.ones((4, 3)), np.ones((4, 2)), hidden={"labels": np.arange(4)})
    assert data.labels.tolist() == [0, 1, 2, 3] and data.unrotated is None
    with pytest.raises(ValueError, match="read-only"):
        data.labels[0] = 1
