"""The one training loop, in which one or several players lower their losses, and its checkpoints.

`minimise` lowers the sum of named terms, `minimise_constrained` lowers an objective under a bound, and `play`
lets several players move in turn, as adversaries do; all keep a history, stop with a clear error when a
number is no longer finite, and go on after any interruption as if nothing had happened.
"""

from .._group import together
from ._apart import train_apart
from ._average import Average
from ._batches import Minibatches
from ._beside import Noise, Width, shrinking
from ._checkpoint import read_parameters
from ._constrained import minimise_constrained
from ._device import device
from ._ensemble import Ensemble
from ._history import History
from ._interrupt import Interrupted
from ._minimise import minimise
from ._pace import Pace
from ._parts import seeded
from ._play import play
from ._prefetch import Prefetched
from ._progress import progress_bar
from ._records import side_by_side
from ._restarts import Trained, joined, train_restarts
from ._schedules import constant, cosine, one_cycle, ramp, warm_up
from ._sealed import read_sealed, write_sealed
from ._settings import Player, Run
from ._shared_out import shared_out
from ._sources import Drawn, Held, Streamed
from ._stepper import Stepper
from ._watched import train_watched

__all__ = [
    "minimise",
    "minimise_constrained",
    "play",
    "Player",
    "Run",
    "Average",
    "Minibatches",
    "Prefetched",
    "History",
    "device",
    "constant",
    "cosine",
    "one_cycle",
    "warm_up",
    "ramp",
    "read_parameters",
    "read_sealed",
    "write_sealed",
    "train_restarts",
    "train_apart",
    "train_watched",
    "Ensemble",
    "Pace",
    "Trained",
    "Noise",
    "side_by_side",
    "Held",
    "Streamed",
    "Drawn",
    "Stepper",
    "Width",
    "shrinking",
    "joined",
    "progress_bar",
    "shared_out",
    "seeded",
    "together",
    "Interrupted",
]
