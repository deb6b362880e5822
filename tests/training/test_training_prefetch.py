import threading

import pytest
import torch

from unmix.training import Minibatches, Prefetched, minimise


def _minibatches(seed=0):
    x = torch.arange(40.0).reshape(20, 2)
    return Minibatches(x, batch_size=6, generator=torch.Generator().manual_seed(seed), noise=2)


def _threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("prefetch")]


def test_batches_are_those_of_the_source():
    ours, source = Prefetched(_minibatches(), "cpu"), _minibatches()
    for _ in range(12):
        assert all(map(torch.equal, next(ours), next(source)))
    assert ours.fingerprint() == source.fingerprint()
    ours.rest()


@pytest.mark.parametrize("taken", [0, 1, 5])
def test_the_place_is_that_of_the_batch_taken(taken):
    ours, source = Prefetched(_minibatches(), "cpu"), _minibatches()
    for _ in range(taken):
        next(ours), next(source)
    other = Prefetched(_minibatches(seed=1), "cpu")
    other.load_state_dict(ours.state_dict())
    for _ in range(8):
        expected = next(source)
        assert all(map(torch.equal, next(ours), expected)) and all(map(torch.equal, next(other), expected))
    ours.rest(), other.rest()


def test_a_rest_loses_no_batch():
    ours = Prefetched([torch.tensor(i) for i in range(5)], "cpu")
    seen = []
    for _ in range(5):
        seen.append(next(ours).item())
        ours.rest()
        assert not _threads()
    assert seen == [0, 1, 2, 3, 4]


def test_a_source_that_can_go_back_stands_where_the_run_ended():
    source, other = _minibatches(), _minibatches()
    ours = Prefetched(source, "cpu")
    for _ in range(5):
        next(ours), next(other)
    ours.rest()
    assert all(map(torch.equal, next(source), next(other)))


def test_nested_batches_keep_their_shape():
    batch = {"x": torch.ones(2), "rest": [torch.zeros(1), ("name", torch.ones(1))]}
    ours = Prefetched([batch], "cpu")
    found = next(ours)
    assert found.keys() == batch.keys() and found["rest"][1][0] == "name"
    ours.rest()


def test_an_error_of_the_source_comes_out_where_the_batch_is_taken():
    def source():
        yield torch.ones(1)
        raise OSError("the disk is gone")

    ours = Prefetched(source(), "cpu")
    assert next(ours).item() == 1.0
    with pytest.raises(OSError, match="the disk is gone"):
        next(ours)
    ours.rest()


@pytest.mark.parametrize("source", [_minibatches, lambda: [tuple(torch.randn(2, 6, 2)) for _ in range(3)]])
def test_a_run_resumes_to_the_bit_and_ends_the_thread(tmp_path, source):
    def run(folder, wrap, stop=None):
        torch.manual_seed(0)
        w = torch.ones(2, requires_grad=True)

        def on_step(step, terms):
            if step == stop:
                raise RuntimeError

        history = minimise(
            lambda batch: {"fit": ((batch[0] * w - batch[1]) ** 2).mean()}, {"w": w}, wrap(source()),
            n_steps=30, lr=0.1, checkpoint=folder, checkpoint_every=4, on_step=on_step,
        )  # fmt: skip
        return w, history.terms

    plain = run(None, lambda batches: batches)
    ahead = lambda batches: Prefetched(batches, "cpu")  # noqa: E731
    with pytest.raises(RuntimeError):
        run(tmp_path, ahead, stop=13)
    assert not _threads()
    resumed = run(tmp_path, ahead)
    assert torch.equal(plain[0], resumed[0]) and plain[1] == resumed[1]
    assert not _threads()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.gpu
def test_batches_arrive_whole_on_cuda():
    source = [(torch.full((1 << 20,), float(i)), torch.tensor([i])) for i in range(50)]
    ours = Prefetched(source, "cuda")
    for i in range(200):
        x, label = next(ours)
        assert x.is_cuda and (x == i % 50).all() and label.item() == i % 50
    ours.rest()
