"""Processes that compute one thing together: who they are, and sums over all of them.

`torchrun` and Slurm's `srun` tell each process its number, how many there are and where to meet, by its
environment. Nothing else is needed: what is computed within `together()` is computed by all of them, and what
is written is written by the first.
"""

import atexit
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

OFF = "UNMIX_TOGETHER"  # set to 0, every process computes by itself
_PORTS = 20_000, 10_000  # the first, and how many jobs of a cluster are spread over


class Group(NamedTuple):
    """A process among those that compute together.

    Parameters
    ----------
    rank, size : int
    parted : bool
        Whether each process sees every `size`-th row of a batch, from its own number on; else all see all.
    n_rows : int, optional
        Rows of the whole batch; by default all parts are equal.
    spread : bool
        Whether each process has models of its own to train on whole batches.
    """

    rank: int = 0
    size: int = 1
    parted: bool = False
    n_rows: int | None = None
    spread: bool = False

    @property
    def alone(self) -> bool:
        """Whether there is nobody else."""
        return self.size == 1

    @property
    def first(self) -> bool:
        """Whether this is the process that writes and speaks."""
        return self.rank == 0

    @property
    def share(self) -> float:
        """What a mean over this part counts for, 1 on average.

        >>> [Group(rank, 2, parted=True, n_rows=5).share for rank in (0, 1)]
        [1.2, 0.8]
        """
        if not self.parted or self.n_rows is None:
            return 1.0
        return len(range(self.rank, self.n_rows, self.size)) * self.size / self.n_rows


ALONE = Group()
_CURRENT: ContextVar[Group] = ContextVar("group", default=ALONE)


def current() -> Group:
    """Return the group that this is computed by.

    >>> current().alone
    True
    """
    return _CURRENT.get()


@contextmanager
def within(group: Group) -> Iterator[Group]:
    """Compute by a group; `ALONE` is one as well."""
    token = _CURRENT.set(group)
    try:
        yield group
    finally:
        _CURRENT.reset(token)


@contextmanager
def together() -> Iterator[Group]:
    """Compute with all processes that the environment tells of; alone where it tells of none.

    Within other work that is done together, or alone, nothing changes.
    """
    with within(current() if _inside() else _joined()) as group:
        token = _ENTERED.set(True)
        try:
            yield group
        finally:
            _ENTERED.reset(token)


_ENTERED: ContextVar[bool] = ContextVar("entered", default=False)


def _inside() -> bool:
    return _ENTERED.get()


def _joined() -> Group:
    if os.environ.get(OFF) == "0" or not dist.is_available():
        return ALONE
    if not dist.is_initialized():
        told = told_by(os.environ)
        if told is None:
            return ALONE
        _meet(told)
    elif "LOCAL_RANK" in os.environ:
        _take_gpu(int(os.environ["LOCAL_RANK"]))
    return Group(dist.get_rank(), dist.get_world_size())


def _take_gpu(local: int) -> None:
    """Give a process of this machine its GPU; more processes than GPUs begin again at the first."""
    if torch.cuda.is_available():
        torch.cuda.set_device(local % torch.cuda.device_count())


def go_on_alone() -> bool:
    """Compute nothing together from now on, and say whether this is the process that goes on.

    >>> go_on_alone()
    True
    """
    told = told_by(os.environ)
    if told is None or os.environ.get(OFF) == "0":
        return True
    os.environ[OFF] = "0"
    return told.rank == 0


class Told(NamedTuple):
    """What the environment tells a process."""

    rank: int
    size: int
    local: int
    meeting: str


def told_by(environment: Any) -> Told | None:
    """Read who this process is among how many, by `torchrun` or by `srun`; None for one alone.

    Examples
    --------
    >>> torchrun = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1", "MASTER_ADDR": "a", "MASTER_PORT": "9"}
    >>> told_by(torchrun)
    Told(rank=1, size=2, local=1, meeting='env://')
    >>> srun = {"SLURM_STEP_ID": "0", "SLURM_PROCID": "3", "SLURM_NTASKS": "4", "SLURM_LOCALID": "1",
    ...         "SLURM_NODELIST": "gpu[03-04,9]", "SLURM_JOB_ID": "70001"}
    >>> told_by(srun)
    Told(rank=3, size=4, local=1, meeting='tcp://gpu03:20001')
    """
    get = environment.get
    if "RANK" in environment and "WORLD_SIZE" in environment:
        numbers = get("RANK"), get("WORLD_SIZE"), get("LOCAL_RANK", get("RANK"))
        meeting = "env://"
    elif get("SLURM_STEP_ID", "").isdigit():  # a script that `srun` did not start is one process
        size = get("SLURM_STEP_NUM_TASKS", get("SLURM_NTASKS", "1"))
        numbers = get("SLURM_PROCID", "0"), size, get("SLURM_LOCALID", "0")
        meeting = _meeting(get)
    else:
        return None
    rank, size, local = map(int, numbers)
    return None if size == 1 else Told(rank, size, local, meeting)


def _meeting(get: Any) -> str:
    """Return where processes of Slurm meet: on the first node, at a port of the job's own."""
    nodes = get("SLURM_STEP_NODELIST", get("SLURM_NODELIST", get("SLURM_JOB_NODELIST", "127.0.0.1")))
    first, many = _PORTS
    port = get("MASTER_PORT", first + int(get("SLURM_JOB_ID", "0")) % many)
    return f"tcp://{get('MASTER_ADDR', first_host(nodes))}:{port}"


def first_host(nodes: str) -> str:
    """Return the first host of a list as Slurm writes it.

    >>> first_host("gpu[03-05,7]"), first_host("a,b"), first_host("rack1-[8,10]")
    ('gpu03', 'a', 'rack1-8')
    """
    found = re.match(r"([^\[,]+)(?:\[(\w+))?", nodes)
    return nodes if found is None else found[1] + (found[2] or "")


def _meet(told: Told) -> None:
    """Meet the other processes; each has a GPU of its own where there are some."""
    _take_gpu(told.local)
    dist.init_process_group(
        "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo",
        init_method=told.meeting,
        rank=told.rank,
        world_size=told.size,
    )
    atexit.register(_part)


def _part() -> None:
    if dist.is_initialized():
        dist.destroy_process_group()


class _Sum(torch.autograd.Function):
    """The sum over processes; its derivative is the sum of their derivatives."""

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return _reduced(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Nothing is remembered."""

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        return _Sum.apply(gradients[0])  # type: ignore[no-any-return]

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Tensor) -> tuple[Tensor, Any]:
        return _Sum.apply(x), in_dims[0]


def summed(x: Tensor) -> Tensor:
    """Add up over all processes, with gradients through all parts.

    The objective of all is the mean of theirs, and each of them finds its own part of the gradient.
    """
    return x if current().alone else _Sum.apply(x)  # type: ignore[no-any-return]


def of_all(mean: Tensor) -> Tensor:
    """Return the mean over the rows of all processes, given that over the rows of this one."""
    group = current()
    if group.alone or not group.parted:
        return mean
    return summed(mean * (group.share / group.size))


def in_all(part: Tensor) -> Tensor:
    """Return a term that is added up over processes, given what this one adds: the mean of all is the sum."""
    group = current()
    return part * (group.size / group.share) if group.parted else part


def whole(n: int) -> int:
    """Return how many rows the whole batch has, given those of this process."""
    group = current()
    return (group.n_rows or n * group.size) if group.parted else n


def drawn(n: int, draw: Callable[[int], Tensor]) -> Tensor:
    """Draw for every row of the whole batch, and return what belongs to the n rows of this process.

    So every process goes through the random numbers that one alone would.
    """
    return mine(draw(whole(n)))


def normals(like: Tensor, n: int) -> Tensor:
    """Draw standard normals for the first n rows of the whole batch, laid out as rows that there are.

    >>> normals(torch.zeros(2, 3), 2).shape
    torch.Size([2, 3])
    """
    return mine(torch.randn_like(like.new_empty_strided((n, *like.shape[1:]), like.stride())))


@contextmanager
def among(rows: range, *tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Compute on some rows of the whole batch, given tensors with the rows of this process.

    Each process has its own of them; where there are fewer than processes, all have all.

    Parameters
    ----------
    rows : range
        Of consecutive rows of the whole batch.
    *tensors : (n, ...) tensors

    Yields
    ------
    tuple of tensors
    """
    group = current()
    if _apart(rows, group):
        few = tuple(tensor[_here(rows.start) : _here(rows.stop)] for tensor in tensors)
        rank = (group.rank - rows.start) % group.size
        inside = group._replace(rank=rank, n_rows=len(rows))
    else:
        few = tuple(gathered(tensor)[rows.start : rows.stop] for tensor in tensors)
        inside = group._replace(parted=False, n_rows=None)
    with within(inside):
        yield few


def of_some(mean: Tensor, rows: range) -> Tensor:
    """Return a term that is a mean over some rows, given that over those which `among` gave this process."""
    group = current()
    if not _apart(rows, group):
        return mean
    n = _here(rows.stop) - _here(rows.start)
    return mean * (n * group.size / (len(rows) * group.share))


def _apart(rows: range, group: Group) -> bool:
    return group.parted and len(rows) >= group.size


def _here(n: int) -> int:
    """Return how many of the first n rows of the whole batch this process has."""
    return len(range(current().rank, n, current().size))


def gathered(x: Tensor) -> Tensor:
    """Return the rows of the whole batch, in its order, given those of this process."""
    group = current()
    if group.alone or not group.parted:
        return x
    n = group.n_rows or len(x) * group.size
    missing = -(-n // group.size) - len(x)  # one row, where the last rows are not enough for all
    mine = torch.cat([x, x.new_zeros(missing, *x.shape[1:])]) if missing else x
    others = torch.zeros_like(mine)
    slots = [mine if rank == group.rank else others for rank in range(group.size)]
    return summed(torch.stack(slots, 1).flatten(0, 1)[:n])


def mine(rows: Tensor) -> Tensor:
    """Return the rows of this process out of those of the whole batch."""
    group = current()
    return rows if group.alone or not group.parted else rows[group.rank :: group.size]


@torch.no_grad()
def added(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Add up over all processes, without gradients."""
    if current().alone:
        return tensors
    return tuple(map(_reduced, tensors))


@torch.no_grad()
def mean_over(tensors: Sequence[Tensor], group: Group) -> None:
    """Overwrite tensors by their means over processes, in one message for each precision.

    This is what `DistributedDataParallel` does after each backward pass.
    """
    for kind in dict.fromkeys((tensor.dtype, tensor.device) for tensor in tensors):
        alike = [tensor for tensor in tensors if (tensor.dtype, tensor.device) == kind]
        total = _reduced(torch.cat([tensor.reshape(-1) for tensor in alike])) / group.size
        for tensor, part in zip(alike, total.split([tensor.numel() for tensor in alike]), strict=True):
            tensor.copy_(part.view_as(tensor))


@torch.no_grad()
def each(x: Tensor) -> list[Tensor]:
    """Return a tensor as each process has it, all of one shape."""
    mine = x.detach().contiguous().to(_way(x))
    found = [torch.empty_like(mine) for _ in range(current().size)]
    dist.all_gather(found, mine)
    return [one.to(x.device) for one in found]


@torch.no_grad()
def smallest(x: Tensor) -> Tensor:
    """Return the smallest over all processes."""
    return x if current().alone else _reduced(x, dist.ReduceOp.MIN)


def _reduced(x: Tensor, how: Any = dist.ReduceOp.SUM) -> Tensor:
    """Return a tensor made of those of all processes; by way of the GPU, where only these are connected."""
    found = x.detach().clone(memory_format=torch.contiguous_format).to(_way(x))
    dist.all_reduce(found, how)
    return found.to(x.device)


def _way(x: Tensor) -> torch.device:
    return torch.device("cuda") if dist.get_backend() == "nccl" and not x.is_cuda else x.device


@torch.no_grad()
def tensors_from(source: int, *tensors: Tensor) -> None:
    """Overwrite tensors by those of one of the processes."""
    if not current().alone:
        for tensor in tensors:
            whole = tensor.detach().contiguous().to(_way(tensor))
            dist.broadcast(whole, source)
            tensor.copy_(whole)


def numbers_from(source: int, numbers: Sequence[float]) -> list[float]:
    """Return numbers as one of the processes has them, so that all decide alike."""
    if current().alone:
        return list(numbers)
    told = torch.tensor(numbers, dtype=torch.float64)
    tensors_from(source, told)
    return told.tolist()


def any_of(flag: bool) -> bool:
    """Say whether it holds for one process at least."""
    return bool(added(torch.tensor(int(flag)))[0])


def bytes_from(source: int, content: bytes | None) -> bytes | None:
    """Return bytes as one of the processes has them; None where it has none."""
    if current().alone:
        return content
    size = int(numbers_from(source, [-1 if content is None else len(content)])[0])
    if size < 0:
        return None
    told = torch.zeros(size, dtype=torch.uint8)
    if current().rank == source and content:
        told = torch.frombuffer(bytearray(content), dtype=torch.uint8)
    tensors_from(source, told)
    return told.numpy().tobytes()
