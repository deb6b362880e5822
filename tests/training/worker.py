"""A real process that trains, for the tests that kill it.

Reads a JSON job from a line of standard input, forks a child for it and prints the child's process id; after
an empty line it waits for the child and prints its exit status. Importing torch once and forking keeps a test
with many kills short.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import torch
from torch import nn

from unmix import _files
from unmix.training import (
    Minibatches,
    Player,
    Prefetched,
    Run,
    minimise,
    minimise_constrained,
    one_cycle,
    play,
    warm_up,
)


class Noisy(nn.Module):
    """Dropout draws from torch's own generator, batch normalisation has buffers: both must survive."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Tanh(), nn.Dropout(0.2), nn.Linear(6, 3)
        )

    def forward(self, x, noise):
        return self.layers(torch.cat([x, noise], dim=1))


def train(job):
    """Train from scratch or from the checkpoint; write every bit of the outcome."""
    torch.set_num_threads(1)
    torch.manual_seed(3)
    model, generator = Noisy(), torch.Generator().manual_seed(1)
    x = torch.randn(50, 3, generator=torch.Generator().manual_seed(2))
    batches = Minibatches(x, batch_size=16, generator=generator, noise=1)
    own = torch.Generator().manual_seed(5)

    def loss(batch):
        x, noise = batch
        x_hat = model(x, noise) + 0.1 * torch.randn(x.shape, generator=own)
        return {"fit": ((x - x_hat) ** 2).mean(), "size": x_hat.abs().mean()}

    def on_step(step, terms):
        if step == 4:
            Path(job["out"] + ".started").touch()
        time.sleep(job.get("pause", 0.0))

    common = {"checkpoint": job["folder"], "checkpoint_every": job["every"], "generators": [own]}
    common |= {"n_steps": job["n_steps"], "lr": 0.01, "on_step": on_step}
    if job["game"] == "constrained":
        history = minimise_constrained(loss, "size", model, batches, epsilon=0.3, **common)
    elif job["game"] == "adversaries":
        history = adversaries(model, loss, Prefetched(batches, "cpu"), common)
    else:
        history = minimise(
            loss,
            model,
            batches,
            schedule=one_cycle(job["n_steps"]),
            weights={"size": warm_up(0.5, 40)},
            clip_norm=1.0,
            weight_decay=0.01,
            patience=10_000,
            ema=0.9,
            **common,
        )
    leave(job["out"], model, history, generator, own)


def adversaries(model, loss, batches, common):
    """Let a critic of period 1 and the model, of period 3 and averaged, move in turn."""
    critic = nn.Linear(3, 1)

    def gap(batch):
        return critic(batch[0]).mean() - critic(model(*batch)).mean()

    lr = common.pop("lr")
    players = [
        Player(name="critic", loss=lambda b: {"gap": gap(b)}, parameters=critic, lr=lr, maximise=True,
               project=lambda: critic.weight.clamp_(-0.1, 0.1)),
        Player(name="model", loss=lambda b: loss(b) | {"gap": gap(b)}, parameters=model, lr=lr, every=3,
               ema=0.9),
    ]  # fmt: skip
    history = play(players, batches, Run(**common))
    model.register_buffer("critic", critic.weight.detach())
    return history


def leave(out, model, history, *generators):
    """Write parameters, buffers, history and the next draw of every generator, bit by bit."""
    tensors = {name: tensor.tolist() for name, tensor in model.state_dict().items()}
    draws = [torch.randn(2, generator=generator).tolist() for generator in (*generators, None)]
    outcome = {"tensors": tensors, "history": history.to_dict(), "draws": draws}
    outcome["history"].pop("seconds")
    _files.atomic_write(out, json.dumps(outcome))


def die(moment, count):
    """Arrange a real SIGKILL at an exact moment of the `count`-th checkpoint write."""
    calls = {"left": count}

    def kill_now():
        calls["left"] -= 1
        if calls["left"] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    replace, to_disk, write_bytes = os.replace, _files._to_disk, Path.write_bytes

    def half_written(path, data):
        calls["left"] == 1 and write_bytes(path, data[: len(data) // 2])
        kill_now()
        return write_bytes(path, data)

    def before_replace(*paths):
        kill_now()
        return replace(*paths)

    def after_replace(*paths):
        replace(*paths)
        kill_now()

    def before_disk(path):
        kill_now()
        return to_disk(path)

    if moment == "half written":
        Path.write_bytes = half_written
    elif moment == "before disk":
        _files._to_disk = before_disk
    else:
        os.replace = {"before rename": before_replace, "after rename": after_replace}[moment]


def child(job):
    """Run one job and leave the process without the parent's clean-up."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if "die" in job:
        die(*job["die"])
    try:
        train(job)
        code = 0
    except KeyboardInterrupt as stop:
        print(stop, file=sys.stderr)
        code = 130
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    while line := sys.stdin.readline():
        pid = os.fork()
        if pid == 0:
            child(json.loads(line))
        print(pid, flush=True)
        sys.stdin.readline()  # the test asks for the status; until then the id can't belong to a stranger
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
