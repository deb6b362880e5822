import sys

import numpy as np
import pytest

from unmix.data import avatars
from unmix.data.images import _avatars


def test_each_of_ten_factors_is_seen():
    pytest.importorskip("python_avatars")
    pytest.importorskip("resvg_py")
    data = avatars()
    assert len(data) == 414_720 and len(data.names) == 10
    still = np.zeros((1, 10), dtype=int)
    moved = np.concatenate([still, np.eye(10, dtype=int)])
    images = data.render(moved).astype(int)
    assert images.shape == (11, 64, 64, 3)
    assert (np.abs(images[1:] - images[0]).reshape(10, -1).max(1) > 40).all()


def test_without_the_extra_it_is_named(monkeypatch):
    _avatars._packages.cache_clear()
    monkeypatch.setitem(sys.modules, "python_avatars", None)
    with pytest.raises(ImportError, match=r"unmix\[avatars\]"):
        avatars(3)
    _avatars._packages.cache_clear()
