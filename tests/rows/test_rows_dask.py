"""On a real cluster of two worker processes, one of which dies half-way."""

import contextlib
import os
import signal

import numpy as np
import pytest

from loopback import loopback_cluster
from unmix import FastICA

dask = pytest.importorskip("dask")
pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
SETTINGS = {"tol": 1e-6, "precision": "float64", "random_state": 0}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    single = os.environ | {"OMP_NUM_THREADS": "1"}
    with (
        dask.config.set({"logging.distributed": "error"}),
        loopback_cluster(folder, single) as (address, _),
        distributed.Client(address) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture(scope="module")
def x():
    rng = np.random.default_rng(0)
    return rng.laplace(size=(4000, 3)) @ rng.normal(size=(3, 3))


@pytest.mark.slow
def test_a_cluster_gives_the_same_even_when_a_worker_dies(client, x, tmp_path):
    def rows(fatal):
        counter = str(tmp_path / f"{fatal}")

        def fragile(block):  # counts blocks in a file, and kills the worker that takes the fatal one
            with open(counter, "ab") as file:
                file.write(b".")
            if os.path.getsize(counter) >= fatal:
                with contextlib.suppress(FileExistsError):  # only the first to come dies
                    os.mkdir(f"{counter}.died")
                    os.kill(os.getpid(), signal.SIGKILL)
            return block

        return dask.array.from_array(x, chunks=(1000, -1)).map_blocks(fragile, dtype=x.dtype, meta=x[:0])

    assert len(client.scheduler_info()["workers"]) == 2
    alone = FastICA(**SETTINGS).fit(x)
    whole = FastICA(**SETTINGS).fit(rows(10**9))
    np.testing.assert_allclose(whole.components_, alone.components_, atol=1e-6)
    np.testing.assert_array_equal(whole.gaussian_, alone.gaussian_)
    passed = os.path.getsize(tmp_path / f"{10**9}")
    assert passed > 4 * whole.n_iter_, "each pass reads all blocks again"

    broken = FastICA(**SETTINGS).fit(rows(passed // 2))
    assert os.path.getsize(tmp_path / f"{passed // 2}") > passed, "blocks of the dead worker are read again"
    np.testing.assert_array_equal(broken.components_, whole.components_)
    assert len(client.scheduler_info()["workers"]) == 1

    z = broken.transform(dask.array.from_array(x, chunks=(1000, -1)))
    np.testing.assert_allclose(z.compute(), alone.transform(x), atol=1e-6)


def test_dask_collections_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="two axes"):
        FastICA().fit(dask.array.ones((4, 2, 2)))
    with pytest.raises(ValueError, match="two axes"):
        FastICA().fit(dask.delayed(np.ones((4, 2))))
    with pytest.raises(ValueError, match="real numbers"):
        FastICA().fit(dask.array.ones((4, 2), dtype=complex))
