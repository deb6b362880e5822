"""Pipelines of estimators in one file: they come back to the bit, and what is damaged is refused."""

import json

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unmix

X = np.random.default_rng(0).laplace(size=(120, 4))


@pytest.fixture(scope="module")
def both():
    return make_pipeline(
        unmix.Autoencoder(3, max_iter=2, random_state=0), unmix.FastICA(3, random_state=0)
    ).fit(X)


def test_a_pipeline_comes_back_to_the_bit(both, tmp_path):
    again = unmix.load(unmix.save(both, tmp_path / "model"))
    assert [name for name, _ in again.steps] == ["autoencoder", "fastica"]
    np.testing.assert_array_equal(again.transform(X), both.transform(X))
    codes = both.transform(X)
    np.testing.assert_array_equal(again.inverse_transform(codes), both.inverse_transform(codes))
    assert again.steps[0][1].get_params()["n_components"] == 3


def test_one_estimator_is_saved_as_by_itself(both, tmp_path):
    alone = both.steps[1][1]
    again, codes = unmix.load(unmix.save(alone, tmp_path / "model")), np.ones((2, 3))
    assert type(again).__name__ == "FastICA"
    np.testing.assert_array_equal(again.inverse_transform(codes), alone.inverse_transform(codes))


def test_steps_of_others_are_refused(both, tmp_path):
    with pytest.raises(TypeError, match="`model` must be an estimator of unmix or a pipeline of such"):
        unmix.save(make_pipeline(StandardScaler(), both.steps[1][1]), tmp_path / "model")
    with pytest.raises(TypeError, match="got StandardScaler"):
        unmix.save(StandardScaler(), tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_pipeline_that_is_not_fitted_is_refused(tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        unmix.save(make_pipeline(unmix.FastICA(2)), tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_every_flipped_byte_is_noticed(both, tmp_path):
    content = unmix.save(both, tmp_path / "model").read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(8, len(content), 25):
        broken = bytearray(content)
        broken[place] ^= 0x15
        (tmp_path / "broken").write_bytes(broken)
        with pytest.raises(ValueError, match=r"must be a (model|whole)"):
            unmix.load(tmp_path / "broken")
    (tmp_path / "short").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"must be a (model|whole)"):
        unmix.load(tmp_path / "short")


@pytest.mark.parametrize(
    "header", [{"format": 2, "steps": ["a"]}, {"format": 1, "steps": ["a"] * 5}, {"format": 1}]
)
def test_headers_that_do_not_fit_are_refused(header, both, tmp_path):
    import torch

    from unmix.training import write_sealed

    tensors = {"0": torch.zeros(3, dtype=torch.uint8)}
    path = write_sealed(tmp_path / "model", "unmix-pipeline", json.dumps(header), tensors)
    with pytest.raises(ValueError, match="`path` must be a model written by `save`"):
        unmix.load(path)
