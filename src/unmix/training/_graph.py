"""Steps compiled, and recorded as CUDA graphs: one launch instead of hundreds.

A graph repeats the same work on the same memory. Hence batches are copied into buffers that stay where they
are, the numbers that change between steps live in tensors (`Dial`), and nothing is read by the host. What is
not so is found out in the first steps, which are taken plainly, and then nothing is recorded.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from .._group import current
from ._history import Row
from ._parts import Named
from ._settings import Loss, Player, Run
from ._tree import leaves, mapped

if TYPE_CHECKING:
    from ._mover import Mover
    from ._play import Game

WARM_UP = 3  # steps taken plainly before one is recorded
WORTH_RECORDING = 200  # steps
WORTH_COMPILING = 5_000, 1_000_000  # steps, parameters

Work = Callable[[Any], None]


def worth_recording(players: Sequence[Player], run: Run) -> bool:
    """Say whether to record the steps of a run, as far as can be told before the first batch."""
    device = Named(players[0].parameters).device
    possible = (
        device.type in RECORDERS
        and current().alone  # others take part in each step
        and all(player.precision != "fp16" for player in players)
        and all(generator.device.type == device.type for generator in run.generators)
    )
    if run.graph is True and not possible:
        _say_plain("it needs CUDA, generators there and no 'fp16'")
    return possible and (run.n_steps >= WORTH_RECORDING if run.graph == "auto" else bool(run.graph))


def compiled(player: Player, run: Run) -> Callable[[Any], Any]:
    """Return a player's loss, compiled where that is asked for or pays."""
    trained = Named(player.parameters).trained.values()
    steps, size = WORTH_COMPILING
    pays = next(iter(trained)).is_cuda and run.n_steps >= steps and sum(t.numel() for t in trained) >= size
    wanted = pays if run.compile == "auto" else run.compile
    return Compiled(player.loss, asked=run.compile is True) if wanted else player.loss


class Compiled:
    """A compiled loss; one that can't be compiled is called as it is."""

    def __init__(self, loss: Loss, asked: bool):
        self.loss, self.asked = loss, asked
        self._call: Callable[[Any], Any] = torch.compile(loss, dynamic=False)
        self._tried = False

    def __call__(self, batch: Any) -> Any:
        if self._tried:
            return self._call(batch)
        self._tried = True
        try:
            return self._call(batch)
        except Exception as error:  # whatever a compiler raises; an error of the loss itself comes again
            self._call = self.loss
            found = self.loss(batch)
            if self.asked:
                warnings.warn(f"the loss is not compiled ({type(error).__name__}: {error}).", stacklevel=2)
            return found


class Recorder:
    """Plays a game on static buffers, with one recorded step for each set of players that move together."""

    def __init__(self, game: "Game", parts: dict[str, Any], run: Run):
        self.game, self.parts, self.asked = game, parts, run.graph is True
        self.device = game.movers[0].model.device
        self.cuda = RECORDERS[self.device.type](self.device, run.generators)
        self.steps: dict[tuple[int, ...], StaticStep | None] = {}

    def __call__(self, batch: Any, step: int) -> Row:
        """Take one step."""
        moving = self.game.prepare(step)
        static = self._static(moving, batch)
        if static is None or not static.fits(batch):
            self.game.move(moving, batch)
        else:
            static.run(batch)
        row = self.game.row()
        return row._replace(values=row.values.clone())  # the next replay writes over them

    def _static(self, moving: "list[Mover]", batch: Any) -> "StaticStep | None":
        key = tuple(id(mover) for mover in moving)
        if key not in self.steps:
            fit = bool(moving) and signature(batch, self.device) is not None
            self.steps[key] = StaticStep(self, moving, batch) if fit else None
            if not fit and moving and self.asked:
                _say_plain("a batch must be tensors on the device")
        return self.steps[key]


class StaticStep:
    """One step on buffers that stay in place: plain at first, then recorded and replayed."""

    def __init__(self, recorder: Recorder, moving: "list[Mover]", batch: Any):
        self.recorder, self.moving = recorder, moving
        self.buffers = mapped(torch.clone, batch)
        self._signature = signature(batch, recorder.device)
        self._plain_left, self._obstacle = WARM_UP, ""
        self._replay: Callable[[], None] | None = None
        self._outputs: list[Tensor | None] = []

    def fits(self, batch: Any) -> bool:
        """Say whether a batch fits in the buffers."""
        return signature(batch, self.recorder.device) == self._signature

    def run(self, batch: Any) -> None:
        """Take the step on a batch."""
        for buffer, tensor in zip(leaves(self.buffers), leaves(batch), strict=True):
            buffer.copy_(tensor, non_blocking=True)
        if self._replay is not None:
            self._replayed()
        elif self._plain_left:
            self._warm_up()
        elif self._obstacle:
            self._work()
        else:
            self._record()

    def _work(self) -> None:
        self.recorder.game.move(self.moving, self.buffers)

    def _warm_up(self) -> None:
        """Take the step plainly, and see whether it leaves memory and the host alone."""
        before = self._places(), torch.get_rng_state()
        waited = self.recorder.cuda.warm_up(self._work)
        self._plain_left -= 1
        if self._plain_left:  # a compiler is busy on the host in the first step
            return
        if waited:
            self._obstacle = "the step waits for a result of the device"
        elif not torch.equal(before[1], torch.get_rng_state()):
            self._obstacle = "the step draws random numbers on the host"
        elif before[0] != self._places():
            self._obstacle = "the step puts new tensors in the place of buffers"
        self._say()

    def _record(self) -> None:
        """Record the step and replay it; keep the recording only if it does what the step does."""
        state = {name: _copied(part.state_dict()) for name, part in self.recorder.parts.items()}
        self._work()
        expected = self._values()
        self._restore(state)
        try:
            self._replay = self.recorder.cuda.record(self._work)
            self._outputs = [mover.values for mover in self.moving]
            self._replayed()
            if torch.allclose(self._values(), expected, rtol=1e-5, atol=1e-7):
                return
            self._obstacle = "the recorded step gives other numbers"
        except RuntimeError as error:
            self._obstacle = f"it can't be recorded ({error})"
        self._replay = None
        self._restore(state)
        self._work()
        self._say()

    def _replayed(self) -> None:
        """Do what was recorded; a replay writes to where the recording put the terms."""
        if self._replay is not None:
            self._replay()
        for mover, values in zip(self.moving, self._outputs, strict=True):
            mover.values = values

    def _restore(self, state: dict[str, Any]) -> None:
        for name, part in self.recorder.parts.items():
            part.load_state_dict(_copied(state[name]))

    def _values(self) -> Tensor:
        return self.recorder.game.row().values.clone()

    def _places(self) -> list[int]:
        return [tensor.data_ptr() for mover in self.moving for tensor in mover.model.all.values()]

    def _say(self) -> None:
        if self._obstacle and self.recorder.asked:
            _say_plain(self._obstacle)


class CudaRecorder:
    """The calls that need CUDA."""

    def __init__(self, device: torch.device, generators: Sequence[torch.Generator] = ()):
        self.device, self.generators = device, list(generators)

    def warm_up(self, work: Callable[[], None]) -> bool:
        """Do the work on a side stream, as a recording will; say whether the host waited for a result."""
        side, now = torch.cuda.Stream(self.device), torch.cuda.current_stream(self.device)
        side.wait_stream(now)
        with torch.cuda.stream(side), _watched_host() as waits:
            work()
        now.wait_stream(side)
        return bool(waits)

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        """Record the work, without doing it, and return the function that does it."""
        graph, now = torch.cuda.CUDAGraph(), torch.cuda.current_stream(self.device)
        index = torch.cuda.current_device() if self.device.index is None else self.device.index
        generators = [torch.cuda.default_generators[index], *self.generators]
        states = [generator.get_state() for generator in generators]
        for generator in self.generators:
            graph.register_generator_state(generator)
        try:
            with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                work()
        except BaseException:
            torch.cuda.set_stream(now)  # a recording that fails leaves its stream and generators in use
            torch.cuda.synchronize(self.device)
            for generator, state in zip(generators, states, strict=True):
                generator.graphsafe_set_state(_generator(self.device, state))
            raise
        return graph.replay


RECORDERS: dict[str, type[CudaRecorder]] = {"cuda": CudaRecorder}


def signature(batch: Any, device: torch.device) -> list[Any] | None:
    """Return shape and type of each tensor of a batch; None unless it is made of tensors on the device."""
    found = leaves(batch)
    if not all(isinstance(leaf, Tensor) and leaf.device == device for leaf in found):
        return None
    return [(leaf.shape, leaf.dtype) for leaf in found]


def _generator(device: torch.device, state: Tensor) -> torch.Generator:
    generator = torch.Generator(device)
    generator.set_state(state)
    return generator


@contextmanager
def _watched_host() -> Iterator[list[Any]]:
    """Yield a list that gets a warning whenever the host waits for the device."""
    before = torch.cuda.get_sync_debug_mode()
    waits: list[Any] = []
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield waits
        finally:
            torch.cuda.set_sync_debug_mode(before)
    for warning in seen:
        text = str(warning.message)
        if "called a synchronizing" in text:
            waits.append(text)
        elif "debug mode" not in text:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def _copied(tree: Any) -> Any:
    return mapped(lambda tensor: tensor.detach().clone(), tree)


def _say_plain(reason: str) -> None:
    warnings.warn(
        f"steps are not recorded as a CUDA graph: {reason}. They are taken one by one.", stacklevel=2
    )
