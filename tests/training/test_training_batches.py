import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unmix.training import Minibatches
from unmix.training._batches import Feed


def _batches(n_samples, batch_size, seed=0, **options):
    generator = torch.Generator().manual_seed(seed)
    return Minibatches(torch.arange(n_samples), batch_size=batch_size, generator=generator, **options)


@given(st.integers(2, 30), st.integers(1, 30), st.integers(0, 9))
def test_every_epoch_sees_every_sample_once(n_samples, batch_size, seed):
    batches = _batches(n_samples, batch_size, seed)
    drawn = [next(batches)[0] for _ in range(3 * n_samples)]
    assert {len(rows) for rows in drawn} == {min(batch_size, n_samples)}
    stream = torch.cat(drawn)
    for epoch in stream[: len(stream) // n_samples * n_samples].view(-1, n_samples):
        assert epoch.sort().values.tolist() == list(range(n_samples))


@given(st.integers(2, 20), st.integers(1, 20), st.integers(0, 25))
def test_a_restored_place_gives_the_same_batches(n_samples, batch_size, drawn):
    batches = _batches(n_samples, batch_size, noise=2)
    for _ in range(drawn):
        next(batches)
    state = {
        key: value.clone() if torch.is_tensor(value) else value for key, value in batches.state_dict().items()
    }
    expected = [next(batches) for _ in range(5)]
    other = _batches(n_samples, batch_size, seed=7, noise=2)
    other.load_state_dict(state)
    for batch in expected:
        assert all(torch.equal(a, b) for a, b in zip(batch, next(other), strict=True))


def test_rows_of_several_tensors_stay_together():
    x, generator = torch.arange(10.0), torch.Generator().manual_seed(0)
    batches = Minibatches(x, 2 * x, batch_size=4, generator=generator)
    for _ in range(5):
        a, b = next(batches)
        assert torch.equal(2 * a, b)


def test_orders_differ_between_epochs_and_seeds():
    first, second = (
        torch.cat([next(b)[0] for _ in range(8)]) for b in (_batches(20, 10), _batches(20, 10, 1))
    )
    assert not torch.equal(first[:20], first[20:40])
    assert not torch.equal(first, second)


def test_noise_is_fresh_standard_normal_of_the_data_type():
    x = torch.zeros(500, 2, dtype=torch.float64)
    batches = Minibatches(x, batch_size=400, generator=torch.Generator().manual_seed(0), noise=3)
    noise = torch.cat([next(batches)[-1] for _ in range(20)])
    assert noise.shape == (8000, 3) and noise.dtype == torch.float64
    assert noise.mean().abs() < 0.03 and (noise.std() - 1).abs() < 0.03
    assert not torch.equal(noise[:400], noise[400:800])


def test_fingerprints_tell_data_size_and_seed_apart():
    assert _batches(9, 3).fingerprint() == _batches(9, 3).fingerprint()
    for other in (_batches(8, 3), _batches(9, 4), _batches(9, 3, seed=1), _batches(9, 3, noise=1)):
        assert other.fingerprint() != _batches(9, 3).fingerprint()
    generator = torch.Generator().manual_seed(0)
    shifted = Minibatches(torch.arange(1, 10), batch_size=3, generator=generator)
    assert shifted.fingerprint() != _batches(9, 3).fingerprint()


@given(st.integers(1, 5), st.integers(0, 12))
def test_a_feed_repeats_a_list_and_finds_its_place_again(length, drawn):
    feed = Feed(list(range(length)))
    assert [feed.draw() for _ in range(drawn)] == [i % length for i in range(drawn)]
    other = Feed(list(range(length)))
    other.load_state_dict(feed.state_dict())
    assert other.draw() == feed.draw()


def test_bad_data_says_what_to_do():
    generator = torch.Generator()
    with pytest.raises(ValueError, match="`tensors` must share a first axis"):
        Minibatches(torch.zeros(3), torch.zeros(4), batch_size=2, generator=generator)
    with pytest.raises(ValueError, match="`tensors` must share a first axis"):
        Minibatches(torch.zeros(0, 2), batch_size=2, generator=generator)
    with pytest.raises(ValueError, match="`batch_size` must be at least 1, got 0"):
        Minibatches(torch.zeros(3), batch_size=0, generator=generator)
    feed = Feed(iter([1]))
    feed.draw()
    with pytest.raises(ValueError, match="`batches` must hold a batch each time, got none"):
        feed.draw()
