"""Stores of activations: opened, written shard by shard, and described once they are whole."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

from unmix._files import atomic_path, atomic_write
from unmix._untrusted import read_object
from unmix._waiting import waiting
from unmix.rows import (
    ActivationStore,
    Rows,
    arrow_rows,
    file_rows,
    is_store,
    joined_rows,
    keys_of,
    open_store,
    read_tensor,
    require_plan,
    shard_rows,
    tensor_shape,
    write_index,
)

from ._activation_summary import Summary, summary_of

PLAN = "plan.json"
_BLOCK = 2**22  # entries of a block
_TYPES = ("float16", "float32")


@dataclass(frozen=True)
class MaskRule:
    """Rows to leave out: the first position of each window, and those whose norm is far above the median.

    A few tokens of a language model carry nearly all variance; a score that counts them says nothing.
    """

    first: bool = True
    norm: float | None = 10.0

    def __call__(self, norms: np.ndarray, position: np.ndarray | None) -> np.ndarray:
        """Return which rows are left out."""
        hidden = np.zeros(len(norms), dtype=bool)
        if self.norm is not None:
            hidden |= norms > self.norm * np.median(norms)
        if self.first and position is not None:
            hidden |= position == 0
        return hidden


def read_activations(
    path: str | os.PathLike[str], *, mask: MaskRule | None = None, key: str | None = None
) -> ActivationStore:
    """Open a store of activations, or an array of them from elsewhere.

    Parameters
    ----------
    path : path-like
        A folder that `unmix activations` wrote; or an NPY, Parquet, safetensors or Arrow file, or a folder of
        such files.
    mask : MaskRule, optional
        For arrays from elsewhere; a store has its own. By default rows with ten times the median norm are
        left out.
    key : str, optional
        The tensor of a safetensors file that holds several.

    Returns
    -------
    ActivationStore

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "x.npy"
    >>> np.save(path, np.random.default_rng(0).normal(size=(100, 4)) + 1)
    >>> store = read_activations(path)
    >>> store.shape, round(store.info["summary"]["gamma"], 1)
    ((100, 4), 1.0)
    """
    place = Path(path)
    if is_store(place):
        return open_store(place)
    if (place / PLAN).is_file():
        raise ValueError(
            f"`path` must be a whole store, {str(path)!r} was not finished. Run the same command again."
        )
    return _elsewhere(_foreign_rows(place, key), place, mask or MaskRule())


def _foreign_rows(place: Path, key: str | None) -> Rows:
    if place.suffix.lower() in (".arrow", ".feather"):
        return arrow_rows(place, _block)
    if place.suffix.lower() == ".safetensors" and place.is_file():
        name = _only_key(place, key)
        shape = tensor_shape(place, name)
        if len(shape) != 2:
            raise ValueError(
                f"`path` must hold rows and columns, {name!r} in {str(place)!r} has shape {shape}."
            )
        dtype = read_tensor(place, name, slice(0, 1)).dtype
        return Rows(lambda a, b: read_tensor(place, name, slice(a, b)), *shape, dtype, _block(shape[1]))
    return file_rows(place, _block)


def _only_key(file: Path, key: str | None) -> str:
    held = keys_of(file)
    likely = [name for name in ("activations", "acts", "x") if name in held]
    name = key or (held[0] if len(held) == 1 else likely[0] if likely else None)
    if name not in held:
        raise ValueError(f"`key` must be one of {', '.join(held)}, got {key!r}. Name the tensor to read.")
    return name


def _block(n_columns: int) -> int:
    return max(1, _BLOCK // n_columns)


def _elsewhere(rows: Rows, place: Path, rule: MaskRule) -> ActivationStore:
    """Look through rows from elsewhere once for their norms, and once for their mean."""
    start, norms = 0, []
    for block in rows.blocks():
        norms.append(_norms(block, start, place))
        start += len(block)
    columns: dict[str, np.ndarray | None] = {"norms": np.concatenate(norms)}
    columns["masked"] = rule(columns["norms"], None)  # type: ignore[arg-type]
    found = summary_of(rows, columns["masked"], columns["norms"])  # type: ignore[arg-type]
    info = {"source": str(place), "model": None, "site": None, "mask": asdict(rule)} | _told(found)
    return ActivationStore(rows, columns.get, info)


def _norms(block: Any, start: int, place: Path) -> np.ndarray:
    """Return the norms of rows, and refuse what is not finite, by row."""
    norms = np.linalg.norm(np.asarray(block, dtype=np.float32), axis=1)
    if not np.isfinite(norms).all():
        bad = start + int((~np.isfinite(norms)).argmax())
        raise ValueError(
            f"`path` must hold finite numbers, {str(place)!r} has NaN or infinity in row {bad:,}."
        )
    return norms


def _told(found: Summary) -> dict[str, Any]:
    return {"mean": found.mean.tolist(), "summary": found.to_dict()}


@dataclass(frozen=True)
class Shard:
    """Rows that are written together: activations, and columns of integers beside them."""

    activations: np.ndarray
    columns: dict[str, np.ndarray]


@dataclass(frozen=True)
class Plan:
    """What is to be stored: enough to tell whether a folder belongs to it.

    Parameters
    ----------
    about : dict
        Model, hash of its weights, site, texts, window: all that decides what is computed.
    n_shards : int
    shard : callable (int) -> Shard
        Computes a shard.
    dtype : {"float16", "float32"}
    mask : MaskRule
    tokenizer : str, optional
        What `tokenizer.json` is to hold.
    """

    about: dict[str, Any]
    n_shards: int
    shard: Callable[[int], Shard]
    dtype: str = "float16"
    mask: MaskRule = MaskRule()
    tokenizer: str | None = None

    @property
    def digest(self) -> str:
        """A digest of what is computed."""
        told = json.dumps(self.about | {"dtype": self.dtype}, sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:16]


def write_store(plan: Plan, out: str | os.PathLike[str], *, verbose: bool | None = None) -> ActivationStore:
    """Compute the shards that a folder lacks, and describe them once all are there.

    A killed run goes on where it stopped: shards are there in full or not at all.

    Parameters
    ----------
    plan : Plan
    out : path-like
    verbose : bool, optional

    Returns
    -------
    ActivationStore
    """
    folder = Path(out)
    _claim(folder, plan)
    with waiting(verbose, "activations", plan=f"{plan.n_shards} shards") as show:
        for number in range(plan.n_shards):
            show(number / plan.n_shards, f"shard {number + 1} of {plan.n_shards}")
            if not _is_there(_file(folder, number), plan):
                with _begun(folder):
                    _write_shard(_file(folder, number), plan.shard(number), plan)
        show(1.0, "")
    if not is_store(folder):
        _write_index(folder, plan)
    return read_activations(folder)


@contextmanager
def _begun(folder: Path) -> Iterator[None]:
    """Remove a folder in which nothing is once its first shard is refused."""
    try:
        yield
    except ValueError:
        names = {path.name for path in folder.iterdir()}
        if names <= {PLAN, "tokenizer.json"}:
            for name in names:
                (folder / name).unlink()
            folder.rmdir()
        raise


def _claim(folder: Path, plan: Plan) -> None:
    """Make the folder, or refuse one that belongs to something else."""
    if plan.dtype not in _TYPES:
        raise ValueError(f"`dtype` must be one of {', '.join(_TYPES)}, got {plan.dtype!r}.")
    if (folder / PLAN).is_file():
        known = read_object(folder / PLAN)
        other = [k for k in known["about"] if known["about"][k] != plan.about.get(k)]
        if known["plan"] != plan.digest:
            raise ValueError(
                f"`out` must be the folder of the same run, {str(folder)!r} belongs to one with another "
                f"{', '.join(other) or 'dtype'}. Choose another folder, or remove it."
            )
        return
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"`out` must be a new folder, {str(folder)!r} holds files. Choose another name.")
    folder.mkdir(parents=True, exist_ok=True)
    atomic_write(folder / PLAN, json.dumps({"plan": plan.digest, "about": plan.about}, indent=1))
    if plan.tokenizer is not None:
        atomic_write(folder / "tokenizer.json", plan.tokenizer)


def _file(folder: Path, number: int) -> Path:
    return folder / f"shard-{number:05d}.safetensors"


def _is_there(file: Path, plan: Plan) -> bool:
    """Whether a shard was written before; what a killed run left half is computed again."""
    if not file.is_file():
        return False
    require_plan(file, plan.digest)
    return True


def _write_shard(file: Path, shard: Shard, plan: Plan) -> None:
    values = np.asarray(shard.activations)
    norms = _norms(values, 0, file)
    with np.errstate(over="ignore"):
        stored = values.astype(plan.dtype)
    if not np.isfinite(stored).all():
        raise ValueError(
            f"`dtype` must hold the activations, {plan.dtype} ends at {np.finfo(plan.dtype).max:,.0f}, got "
            f"{np.abs(values).max():,.0f}. Use float32."
        )
    columns = {name: np.ascontiguousarray(value) for name, value in shard.columns.items()}
    model, site, source = (plan.about.get(name) for name in ("model", "site", "source"))
    of = f"{model}, {site}" if model else f"the array {source}"
    with atomic_path(file) as temporary:
        arrays = {"activations": np.ascontiguousarray(stored), "norms": norms, **columns}
        # one entry: several would be written in any order, and the hash must be that of the content
        about = {"unmix": json.dumps({"plan": plan.digest, "of": of})}
        temporary.write_bytes(save(arrays, metadata=about))  # save_file lets nobody but its owner read


def _write_index(folder: Path, plan: Plan) -> None:
    """Hash the shards, find what is masked, and write what is known of all of them."""
    files = [_file(folder, number) for number in range(plan.n_shards)]
    norms = np.concatenate([read_tensor(file, "norms") for file in files])
    there = "position" in keys_of(files[0])
    position = np.concatenate([read_tensor(file, "position") for file in files]) if there else None
    masked = plan.mask(norms, position)
    with atomic_path(folder / "masked.npy") as temporary:
        np.save(temporary, masked)
    rows = joined_rows([shard_rows(file) for file in files], str(folder))
    shards = [
        {"file": file.name, "bytes": file.stat().st_size, "sha256": _sha256(file), "n_rows": n}
        for file, n in zip(files, _lengths(files), strict=True)
    ]
    told = {"plan": plan.digest, **plan.about, "dtype": plan.dtype, "mask": asdict(plan.mask)}
    told |= {"n_rows": rows.n_rows, "n_features": rows.n_features}
    told |= _told(summary_of(rows, masked, norms)) | {"shards": shards}
    write_index(folder, told)


def _lengths(files: list[Path]) -> list[int]:
    return [tensor_shape(file, "activations")[0] for file in files]


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def verify_activations(path: str | os.PathLike[str]) -> None:
    """Read every shard of a store, and compare it with the hash in the index.

    Parameters
    ----------
    path : path-like
        A folder that `unmix activations` wrote.

    Raises
    ------
    ValueError
        Naming the first shard that is not what was written.
    """
    place = Path(path)
    for shard in open_store(place).info["shards"]:
        if _sha256(place / shard["file"]) != shard["sha256"]:
            raise ValueError(
                f"`path` must hold the shards that were written, {shard['file']!r} in {str(path)!r} has "
                "changed. Compute it again."
            )


def store_activations(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    mask: MaskRule | None = None,
    dtype: str = "float32",
    key: str | None = None,
) -> ActivationStore:
    """Copy an array of activations from elsewhere into a store: masked, hashed, with mean and norms.

    Parameters
    ----------
    path : path-like
        An NPY, Parquet, safetensors or Arrow file, or a folder of such files.
    out : path-like
        The folder to make.
    mask, key
        As for `read_activations`.
    dtype : {"float32", "float16"}

    Returns
    -------
    ActivationStore

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "x.npy", np.random.default_rng(0).normal(size=(100, 4)))
    >>> store_activations(folder / "x.npy", folder / "store").shape
    (100, 4)
    """
    rows = _foreign_rows(Path(path), key)
    size = max(1, 2**24 // rows.n_features)
    head = hashlib.sha256(np.ascontiguousarray(rows.head(1000)).tobytes()).hexdigest()[:16]
    about = {"source": Path(path).name, "model": None, "site": None, "n_rows": rows.n_rows, "head": head}

    def shard(number: int) -> Shard:
        start = number * size
        block = rows.take(start, min(start + size, rows.n_rows))
        _norms(block, start, Path(path))  # what is wrong is in this file, not in the shard
        return Shard(block, {})

    plan = Plan(about, -(-rows.n_rows // size), shard, dtype, mask or MaskRule())
    return write_store(plan, out)
