import json

import pytest
import torch

from unmix.training import Minibatches, minimise, read_parameters
from unmix.training._checkpoint import FILE, read, write
from unmix.training._history import Record, Row


def _run(folder, *, n_steps=20, seed=0, shift=0.0, interrupt=None, **options):
    generator = torch.Generator().manual_seed(seed)
    x = torch.arange(12.0).reshape(6, 2) + shift
    w = torch.ones(2, requires_grad=True)

    def stop(step, terms):
        if step == interrupt:
            raise RuntimeError("stopped by the test")

    history = minimise(
        lambda batch: {"fit": ((batch[0] * w - batch[1]) ** 2).mean()},
        {"w": w}, Minibatches(x, batch_size=4, generator=generator, noise=2),
        n_steps=n_steps, checkpoint=folder, checkpoint_every=5, on_step=stop, **options,
    )  # fmt: skip
    return w, history


def test_a_nested_state_comes_back_as_it_went(tmp_path):
    state = {
        "a": {"x": torch.randn(3, dtype=torch.float64), "n": 3, "t": 0.1, "s": "text", "none": None},
        "scalar": torch.tensor(2.5), "bytes": torch.arange(5, dtype=torch.uint8), "empty": {},
        "half": torch.ones(2, dtype=torch.bfloat16), "view": torch.arange(6.0).reshape(2, 3).T,
    }  # fmt: skip
    write(tmp_path, state, {"lr": 0.1})
    found, config = read(tmp_path)
    assert config == {"lr": 0.1}
    assert found["a"] | {"x": None} == state["a"] | {"x": None}
    for key in ("scalar", "bytes", "half", "view"):
        assert torch.equal(found[key], state[key]) and found[key].dtype == state[key].dtype
    assert torch.equal(found["a"]["x"], state["a"]["x"]) and found["empty"] == {}


def test_a_resumed_run_equals_one_that_went_through(tmp_path):
    whole, history = _run(None)
    with pytest.raises(RuntimeError):
        _run(tmp_path, interrupt=13)
    assert read(tmp_path)[0]["record"]["rows"].shape == (10, 1)
    resumed, again = _run(tmp_path)
    assert torch.equal(whole, resumed)
    assert again.terms == history.terms


def test_a_resumed_run_stops_early_at_the_same_step(tmp_path):
    options = {"n_steps": 2000, "lr": 0.1, "patience": 60}
    whole, history = _run(None, **options)
    assert history.stopped == "patience"
    with pytest.raises(RuntimeError):
        _run(tmp_path, interrupt=77, **options)
    resumed, again = _run(tmp_path, **options)
    assert torch.equal(whole, resumed) and again.terms == history.terms and again.stopped == "patience"
    assert _run(tmp_path, **options)[1].n_steps == history.n_steps


def test_a_plain_list_of_batches_is_fast_forwarded(tmp_path):
    def run(folder, interrupt=None):
        w = torch.ones(1, requires_grad=True)

        def stop(step, terms):
            if step == interrupt:
                raise RuntimeError

        batches = [torch.tensor([value]) for value in (1.0, 2.0, 4.0)]
        history = minimise(
            lambda batch: {"fit": ((w - batch) ** 2).sum()}, {"w": w}, batches, n_steps=10, lr=0.1,
            checkpoint=folder, checkpoint_every=4, on_step=stop,
        )  # fmt: skip
        return w, history.terms

    whole = run(None)
    with pytest.raises(RuntimeError):
        run(tmp_path, interrupt=5)
    assert run(tmp_path) == whole


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"n_steps": 21}, "n_steps=20"),
        ({"lr": 0.5}, "lr=0.001"),
        ({"schedule": "cosine"}, "schedule="),
        ({"weights": {"fit": 2.0}}, "weights="),
        ({"ema": 0.9}, "ema=None"),
        ({"clip_norm": 1.0}, "clip_norm=None"),
        ({"seed": 1}, "batches="),
        ({"shift": 1.0}, "batches="),
        ({"description": "another"}, "description=''"),
        ({"generators": [torch.Generator()]}, "generators="),
    ],
)
def test_another_run_is_not_resumed(tmp_path, changed, named):
    _run(tmp_path)
    with pytest.raises(ValueError, match="`checkpoint` must come from the same run") as error:
        _run(tmp_path, **changed)
    assert named in str(error.value) and "Choose another folder" in str(error.value)


def test_other_parameters_are_not_filled(tmp_path):
    _run(tmp_path)
    w = torch.ones(3, requires_grad=True)
    with pytest.raises(ValueError, match="`checkpoint` must come from the same run"):
        minimise(lambda _: {"fit": (w**2).sum()}, {"w": w}, [0], n_steps=20, checkpoint=tmp_path)
    assert w.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_truncated_checkpoint_is_refused(tmp_path, share):
    _run(tmp_path)
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(
        ValueError, match=r"`checkpoint` must hold an intact file, got .* Delete it to start afresh"
    ):
        _run(tmp_path)


def test_a_flip_of_any_byte_is_noticed(tmp_path):
    _run(tmp_path)
    whole, silent = (tmp_path / FILE).read_bytes(), []
    for place in range(0, len(whole), 41):
        tampered = bytearray(whole)
        tampered[place] ^= 0x01
        (tmp_path / FILE).write_bytes(tampered)
        try:
            read(tmp_path)
            silent.append(place)
        except ValueError as error:
            assert "must hold an intact file" in str(error)
    assert silent == []


def test_another_files_json_is_noticed(tmp_path):
    from safetensors.torch import save_file

    save_file({"w": torch.ones(2)}, tmp_path / FILE)
    with pytest.raises(ValueError, match="must hold an intact file"):
        read(tmp_path)
    save_file({"w": torch.ones(2)}, tmp_path / FILE, metadata={"run": json.dumps({}), "sha256": "0"})
    with pytest.raises(ValueError, match="its checksum does not agree"):
        read(tmp_path)


@pytest.mark.slow
def test_a_record_of_a_million_steps_of_five_terms_stays_small(tmp_path):
    record, names = Record(), tuple("abcde")
    for start in range(0, 1_000_000, 1000):
        for row in torch.arange(start, start + 1000.0, dtype=torch.float64)[:, None].expand(-1, 5):
            record.append(Row(names, row))
        record.flush()
    write(tmp_path, {"record": record.state_dict()}, {})
    assert (tmp_path / FILE).stat().st_size < 1e6
    history = record.history()
    assert history.n_steps == 1_000_000 and 5_000 <= len(history.steps) <= 10_001
    assert history.terms["e"] == history.steps


def test_an_empty_folder_has_no_parameters(tmp_path):
    assert read(tmp_path) is None
    with pytest.raises(ValueError, match="`folder` must hold a checkpoint"):
        read_parameters(tmp_path)


@pytest.mark.parametrize("how", ["removed", "damaged"])
def test_a_checkpoint_that_another_program_touches_is_told_and_written_anew(tmp_path, how):
    whole, _ = _run(None)

    def touched(step, terms):
        if step == 12:
            (tmp_path / FILE).unlink()
            (tmp_path / FILE).write_text("?") if how == "damaged" else tmp_path.rmdir()

    x = torch.arange(12.0).reshape(6, 2)
    w = torch.ones(2, requires_grad=True)
    batches = Minibatches(x, batch_size=4, generator=torch.Generator().manual_seed(0), noise=2)
    with pytest.warns(UserWarning, match="removed or changed while the fit ran") as told:
        minimise(
            lambda batch: {"fit": ((batch[0] * w - batch[1]) ** 2).mean()},
            {"w": w}, batches, n_steps=20, checkpoint=tmp_path, checkpoint_every=5, on_step=touched,
        )  # fmt: skip
    assert len(told) == 1 and torch.equal(whole, w)
    assert torch.equal(_run(tmp_path)[0], w)  # what is there now is whole
