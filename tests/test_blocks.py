"""Blocks of code in the documents run: those that print nothing in small.

Blocks with prompts are held to their output by `test_repository.py`; `test_commands.py` runs commands.
"""

import inspect
import re
import shlex
from pathlib import Path

import pytest
import typer.main

import unmix
from unmix.cli import _app

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").rglob("*.md"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)

# what a page has told before its blocks begin: tables, images, networks
TABLE = """
import numpy as np, torch, unmix
rng = np.random.default_rng(0)
x = rng.laplace(size=(300, 5)) @ rng.normal(size=(5, 12)) + 0.01 * rng.normal(size=(300, 12))
"""
IMAGES = """
import numpy as np, unmix
images = np.random.default_rng(0).integers(0, 256, (64, 16, 16, 3)).astype(np.uint8)
style, z = np.tile(["day", "night"], 32), None
from functools import partial
narrow = partial(unmix.nn.unet, widths=(8, 8), n_blocks=1, heads=2)
short = partial(unmix.nn.leaky_encoder, widths=(8, 8, 8), dense=(16,))
"""
NETWORK = """
import torch
network = parameters = torch.nn.Linear(12, 2)
loss = lambda batch: {"fit": network(batch[0].float()).square().mean()}
generator = torch.Generator().manual_seed(0)
x = torch.as_tensor(x)
batches = unmix.training.Minibatches(x, batch_size=50, generator=generator)
"""
SCENES = {
    "api/training.md": TABLE
    + NETWORK
    + """
from unmix.training import Player, Prefetched, Run, play
generator, discriminator = torch.nn.Linear(12, 2), torch.nn.Linear(2, 1)
judge = lambda batch: {"judge": discriminator(generator(batch[0].float())).square().mean()}
fool = lambda batch: {"fool": -discriminator(generator(batch[0].float())).square().mean()}
""",
    "checkpoints.md": TABLE + NETWORK + "x = x.numpy()",
    "choose.md": TABLE
    + """
from unmix.theory import explain, refitted_structures
model = unmix.DiverseDictionaryLearning(3, random_state=0).fit(x)
""",
    "cluster.md": TABLE + NETWORK + "np.save('images-or-rows.npy', x)",
    "domains.md": TABLE
    + "from unmix.theory import certify_domains\nbatch = np.tile(['a', 'b', 'c'], 100)\nx = x[:, :8]",
    "generators.md": IMAGES,
    "ica.md": TABLE + "import dask.array\nnp.save('x.npy', x)\ndask_array = dask.array.from_array(x)",
    "index.md": "",
    "pdgmm.md": "",
    "reproduce.md": "",
    "slots.md": "",
    "sparse-basis.md": "import numpy as np\nrng = np.random.default_rng(0)\n"
    "codes = (rng.random((2000, 3)) < 0.5) * rng.normal(size=(2000, 3)) @ rng.normal(size=(3, 3))",
}
SMALLER = {  # what a page asks for, and what is enough to see that it runs
    "n_steps=50_000": "n_steps=3",
    "n_steps=10_000": "n_steps=3",
    "max_steps=20_000": "max_steps=2",
    "max_steps=3000": "max_steps=2",
    "max_iter=10**6": "max_iter=1",
    "10_000, n_slots": "400, n_slots",
    "(10_000,": "(300,",
    "balls(8000": "balls(200",
    "(model, x, 20)": "(model, x, 2)",
    "jacobian(images[:100])": "jacobian(images[:4])",
    "z=model.transform(images), domains": "z=np.random.default_rng(0).normal(size=(64, 64)), domains",
    "mapping(z)": "mapping(__import__('torch').zeros(2, 64))",
    'Prefetched(batches, "cuda")': 'Prefetched(batches, "cpu")',
    "Autoencoder(12)": "Autoencoder(6)",
    "unmix.EncDiff(20,": "unmix.EncDiff(4, network=narrow, encoder=short, max_steps=1, batch_size=8,",
    "unmix.DisCo(20,": "unmix.DisCo(4, encoder=short, max_steps=1, batch_size=4,",
}
FAST = {"max_iter": 2, "n_restarts": 1}  # of estimators, where a block does not say otherwise
SLOW = ("choose.md", "generators.md", "pdgmm.md", "slots.md", "index.md", "domains.md")


def plain(path):
    return [code for kind, code in BLOCK.findall(path.read_text()) if kind == "python" and ">>>" not in code]


def name_of(path):
    return path.relative_to(ROOT / "docs").as_posix()


def small(code):
    for asked, enough in SMALLER.items():
        code = code.replace(asked, enough)
    return code


def test_every_page_with_blocks_has_a_scene():
    assert {name_of(path) for path in PAGES if plain(path)} == set(SCENES)


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.slow if page in SLOW else ()) for page in SCENES]
)
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore")  # two passes converge nowhere
def test_blocks_without_output_run(page, monkeypatch, tmp_path, capsys):
    for name in unmix.estimators.__all__:
        given = inspect.unwrap(getattr(getattr(unmix.estimators, name), "__init__", None))
        if getattr(given, "__kwdefaults__", None):
            changed = {key: value for key, value in FAST.items() if key in given.__kwdefaults__}
            monkeypatch.setattr(given, "__kwdefaults__", given.__kwdefaults__ | changed)
    monkeypatch.setattr("unmix.estimators._dis_co._BANK", 32)
    monkeypatch.chdir(tmp_path)
    space = {"__name__": "a_page"}
    exec(SCENES[page], space)
    for code in plain(ROOT / "docs" / page):
        exec(compile(small(code), page, "exec"), space)


@pytest.mark.parametrize("path", [ROOT / "README.md", *PAGES], ids=lambda path: path.name)
def test_every_command_shown_has_arguments_that_it_takes(path):
    commands = typer.main.get_command(_app.app).commands
    for kind, block in BLOCK.findall(path.read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines() if kind in ("", "bash") else ():
            if line.startswith("unmix ") and not line.startswith(("unmix --", "unmix: ")):
                name, *given = shlex.split(line, comments=True)[1:]
                assert commands[name].make_context(name, given), line  # raises where it does not


def test_what_no_command_takes_is_noticed():
    command = typer.main.get_command(_app.app).commands["fit"]
    with pytest.raises(Exception, match="n-latents"):
        command.make_context("fit", ["x.csv", "--n-latents", "3", "--out", "model"])
    with pytest.raises(Exception, match="no-method"):
        command.make_context("fit", ["x.csv", "--method", "no-method", "--out", "model"])
