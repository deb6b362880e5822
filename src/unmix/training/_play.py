"""Games: players who move in turn, each with a loss and parameters of its own."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from ._average import Average
from ._graph import Recorder, compiled, worth_recording
from ._history import History, Row
from ._loop import loop
from ._mover import Mover, extra_gradient
from ._norms import shared_norms
from ._parts import RandomState
from ._settings import Player, Run


def play(players: Sequence[Player], batches: Iterable[Any], run: Run, *, look_ahead: bool = False) -> History:
    """Let players move in turn, each lowering its own loss, until the run is over.

    At every step one batch is drawn; each player whose period has come computes its loss on it, where the
    others have just moved to, and takes one step of Adam. A loss may run through other players' networks:
    its gradient reaches only the parameters of its own player.

    Parameters
    ----------
    players : sequence of Player
        In the order of their moves, with different names.
    batches : iterable
        Started over when it ends. With `state_dict` and `load_state_dict` (as `Minibatches` has) it is
        resumed by them; otherwise it is fast-forwarded, and must then give the same batches again.
    run : Run
    look_ahead : bool, default=False
        Take extra-gradient steps, all players at once, on the loss of the first, which some lower and
        others (with ``maximise=True``) raise.

    Returns
    -------
    History
        Every term at every step, named "player/term"; a player who rests repeats its last terms.

    Raises
    ------
    FloatingPointError
        If a term or a parameter is no longer finite; names it and the step.

    Examples
    --------
    The saddle of x y + x^2 / 2 - y^2 / 2, which x lowers and y raises:

    >>> x, y = (torch.ones(1, requires_grad=True) for _ in range(2))
    >>> value = lambda _: {"value": (x * y + x**2 / 2 - y**2 / 2).sum()}
    >>> low = Player(name="low", loss=value, parameters={"x": x}, lr=0.05, schedule="cosine")
    >>> high = Player(name="high", loss=value, parameters={"y": y}, lr=0.05, schedule="cosine", maximise=True)
    >>> history = play([low, high], [None], Run(n_steps=500))
    >>> abs(round(x.item(), 2)), abs(round(y.item(), 2)), sorted(history.terms)
    (0.0, 0.0, ['high/value', 'low/value'])

    References
    ----------
    Goodfellow et al. (2014), Generative adversarial nets, Algorithm 1, arXiv:1406.2661.
    """
    return play_out(players, batches, run, look_ahead=look_ahead)


def play_out(
    players: Sequence[Player],
    batches: Iterable[Any],
    run: Run,
    *,
    look_ahead: bool,
    config: dict[str, Any] | None = None,
) -> History:
    """Play, with more that identifies the run in its checkpoint."""
    _require_players(players, look_ahead)
    static = worth_recording(players, run)
    game = Game(players, run, look_ahead=look_ahead, static=static)
    random = RandomState(run.generators, game.movers[0].model.device)
    parts = {"players": game, "random": random}
    config = {"generators": random.fingerprint()} | (config or {})
    for mover in game.movers:
        config |= mover.config(run.n_steps)
    update = Recorder(game, parts, run) if static else game
    models = {mover.prefix: mover.model for mover in game.movers}
    with shared_norms(player.parameters for player in players):
        history = loop(update, models, parts, batches, run, config)
    for mover in game.movers:
        if mover.average is not None:
            mover.average.apply()
    return history


class Game:
    """Who moves at a step, and how: in turn, or all at once after a look ahead."""

    def __init__(self, players: Sequence[Player], run: Run, *, look_ahead: bool, static: bool):
        alone = len(players) == 1 or look_ahead
        self._all_move = all(player.every == 1 for player in players)
        self.look_ahead = look_ahead
        self.movers = [Mover(p, run.n_steps, compiled(p, run), alone, static) for p in players]

    def __call__(self, batch: Any, step: int) -> Row:
        """Take one step."""
        self.move(self.prepare(step), batch)
        return self.row()

    def prepare(self, step: int) -> list[Mover]:
        """Return those who move at this step, with their numbers set."""
        moving = self.movers
        if not self._all_move:
            moving = [mover for mover in moving if step % mover.player.every == 0]
        for mover in moving:
            mover.prepare(step)
        return moving

    def move(self, moving: Sequence[Mover], batch: Any) -> None:
        """Do the step's work on the device."""
        if self.look_ahead:
            extra_gradient(moving, batch)
            return
        for mover in moving:
            mover.descend(batch)

    def row(self) -> Row:
        """Return the latest terms of all players."""
        if len(self.movers) == 1 or self.look_ahead:
            lead = self.movers[0]
            return Row(lead.names, lead.values, lead.extras)  # type: ignore[arg-type]
        names = tuple(mover.prefix + name for mover in self.movers for name in mover.names)
        return Row(names, torch.cat([mover.values for mover in self.movers]))  # type: ignore[misc]

    def state_dict(self) -> dict[str, Any]:
        """Return every player's state by name."""
        return {mover.player.name: mover.state_dict() for mover in self.movers}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        for mover in self.movers:
            mover.load_state_dict(state[mover.player.name])


def _require_players(players: Sequence[Player], look_ahead: bool) -> None:
    names = [player.name for player in players]
    if not names or Counter(names).most_common(1)[0][1] > 1:
        raise ValueError(f"`players` must have different names, got {names}. Give each a `name`.")
    averages = [id(player.ema) for player in players if isinstance(player.ema, Average)]
    if len(set(averages)) < len(averages):
        raise ValueError("`players` must have an average each, got one for several. Make another `Average`.")
    if look_ahead and any(player.every != 1 or player.precision == "fp16" for player in players):
        raise ValueError(
            "`look_ahead` must have players that move at every step and not in 'fp16', got "
            f"{[(player.every, player.precision) for player in players]}. Use every=1 and 'bf16'."
        )
