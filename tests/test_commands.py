"""Commands in the documents run, as they stand there, on small files of the names that they have there.

Fits take two passes and one start. What would take hours is made smaller in place: see `SMALLER`.
"""

import contextlib
import inspect
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from http.server import ThreadingHTTPServer
from importlib.metadata import metadata
from pathlib import Path

import pytest

import scene
import unmix
from loopback import loopback_cluster
from unmix.cli import main
from unmix.report.explorer import Server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.filterwarnings("ignore")]
ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
FAST = {"max_iter": 2, "n_restarts": 1}
EXPERIMENTS = str(Path(__file__).parent / "experiments")

# tables of results are run by `make smoke`, each at its smallest budget; here one of no cost stands for them
SMALLER = {
    r"reproduce (?!mytable|nearid.figure2|--list)[a-z.0-9 ]+?(?= --)": "reproduce fake_table",
    r"--row \"[^\"]*\"": '--row "row *"',
    r"--column \"[^\"]*\"": '--column "col*"',
    r"--budget (laptop|gpu|full)": "--budget smoke",
    r"--seeds \d+": "--seeds 1",
    r"--workers \d+": "--workers 2",
    r"--device cuda ": "",
    r"--slurm slurm_partition=gpu": "--slurm slurm_partition=gpu --slurm cluster=local",
    r"--model smollm2": "--model ./smollm2",
    r"^unmix demo": "unmix demo --quick",
    r"--n-samples 10000 --size 32": "--n-samples 60 --size 16",
    r"--n-samples 10000": "--n-samples 60",
    r"simulate --(profile|kind)": r"simulate --n-samples 200 --\1",
    r"--rows 12,840": "--rows 12,40",
    r"--stability 100": "--stability 3",
    r"--refits 20": "--refits 2",
    r"--max-iter 20": "--max-iter 2",
    r"--method vae": "--method vae --max-iter 2",
    r"BetaVAE\(10,": "BetaVAE(2, max_iter=2,",
    r"--nproc_per_node=4": "--nproc_per_node=2",
    r"\$\(hostname\)": "127.0.0.1",
}
# what a page has told before a command, by how that begins
_DATA = "unmix simulate --n-samples 200 --n-latents 3 --out data.npz"
_MODEL = (_DATA, "unmix fit data.npz --n-components 3 --out model")
_WELLS = "unmix fit wells.csv --id well --drop dose --method ica --n-components 4 --out "
_SHAPES = "unmix simulate shapes3d --n-samples 60 --size 16 --out shapes"
BEFORE = {
    "unmix evaluate data.npz latents.csv --metrics mcc,": (
        *_MODEL,
        "unmix transform model data.npz --out latents.csv",
    ),
    "unmix fit data.npz --method slots": (_DATA.replace("--n-latents 3", "--n-latents 9"),),
    "unmix trust model data.npz --effort full": _MODEL,
    "unmix trust model2 table.csv": (
        "unmix fit table.csv --method cgvae --domains batch --n-components 2 --out model2",
    ),
    "unmix certify model --data": ("unmix fit x.npy --n-components 4 --out model",),
    "unmix compare model1 model2": tuple(
        f"unmix fit x.csv --drop batch --method ica --n-components 4 --out model{k}" for k in (1, 2)
    ),
    "unmix explore model --data wells.csv": (f"{_WELLS}model",),
    "unmix explore model model2": (f"{_WELLS}model2",),
    "unmix fit shapes": (_SHAPES,),
    "unmix show model --data shapes --latents": (_SHAPES.replace("--out shapes", "--seed 1 --out others"),),
    "unmix report results --out": ("unmix reproduce fake_table --budget smoke --seeds 1 --out results",),
}


def blocks(path):
    """Return the blocks of a page that hold commands, joined where a line goes on."""
    for kind, block in BLOCK.findall(path.read_text(encoding="utf-8")):
        if kind in ("", "bash"):
            yield block.replace("\\\n", " ")


def commands(path):
    """Return the commands of ours in each block of a page; scripts are run as such."""
    for block in blocks(path):
        lines = [line for line in block.splitlines() if line.startswith("unmix ")]
        if lines and not block.startswith("#!"):
            yield lines


def _lines(page):
    return [line for block in blocks(ROOT / page) for line in block.splitlines()]


def _of_a_checkout(line):
    return line.startswith("pip install ") and "dist/" not in line


def smaller(line):
    for asked, enough in SMALLER.items():
        line = re.sub(asked, enough, line)
    return line


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with fits that take two passes, and modules that pages write."""
    for name in unmix.estimators.__all__:
        given = inspect.unwrap(getattr(getattr(unmix.estimators, name), "__init__", None))
        if getattr(given, "__kwdefaults__", None):
            changed = {key: value for key, value in FAST.items() if key in given.__kwdefaults__}
            monkeypatch.setattr(given, "__kwdefaults__", given.__kwdefaults__ | changed)
    known = [str(tmp_path), EXPERIMENTS, *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(known))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.syspath_prepend(EXPERIMENTS)
    monkeypatch.setattr(Server, "serve_forever", _answer_once)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _answer_once(server):
    """Serve until the page was opened, as a reader would, and end."""
    threading.Thread(target=ThreadingHTTPServer.serve_forever, args=(server,), daemon=True).start()
    with urllib.request.urlopen(server.address, timeout=60) as answer:
        assert b"explorer" in answer.read()
    server.shutdown()


def typed(line, folder, capsys):
    """Run one command in this process; it must succeed."""
    words = shlex.split(smaller(line), comments=True)
    scene.furnish(words, folder)
    with pytest.raises(SystemExit) as left:
        main(words[1:])
    said = capsys.readouterr()
    assert left.value.code == 0, f"{line}: {said.err[-2000:]}"


def modules_of(path, folder):
    """Write the modules that a page shows: blocks of Python that begin with the name of a file."""
    for kind, code in BLOCK.findall(path.read_text(encoding="utf-8")):
        name = re.match(r"# (\w+\.py)\n", code)
        if kind == "python" and name:
            (folder / name[1]).write_text(smaller(code))


RUN_ELSEWHERE = ("docs/cluster.md",)


@pytest.mark.parametrize(
    "page",
    [
        name
        for path in PAGES
        if any(commands(path)) and (name := str(path.relative_to(ROOT))) not in RUN_ELSEWHERE
    ],
)
def test_commands_of_a_page_run_one_after_the_other(page, folder, capsys, request):
    path = ROOT / page
    for number, lines in enumerate(commands(path)):
        here = folder / str(number)
        here.mkdir()
        os.chdir(here)
        modules_of(path, here)
        for line in lines:
            if "--dask" in line:
                line = re.sub(r"tcp://[\w.:]+", request.getfixturevalue("scheduler"), line)
            for start, before in BEFORE.items():
                if line.startswith(start) and not (here / before[-1].split()[-1]).exists():
                    for each in before:
                        typed(each, here, capsys)
            typed(line, here, capsys)


@pytest.fixture
def scheduler(folder, tmp_path_factory):
    pytest.importorskip("distributed")
    with loopback_cluster(tmp_path_factory.mktemp("cluster"), dict(os.environ)) as (address, _):
        yield address


SHIMS = {
    "python": '{python} "$@"',
    "unmix": '{python} -m unmix "$@"',
    "dask": '{python} -m distributed.cli.dask_$1 "${{@:2}}"',
    "torchrun": '{python} -m torch.distributed.run "$@"',
    "srun": '"$@"',  # one process, here
}


@pytest.fixture
def shell(folder, monkeypatch):
    """Run text by bash, and end whatever it started once it has ended."""
    programs = folder / "bin"
    programs.mkdir()
    for name, does in SHIMS.items():
        (programs / name).write_text(f"#!/bin/bash\nexec {does.format(python=shlex.quote(sys.executable))}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)

    def run(text):
        with open(folder / "said", "wb") as said:
            started = subprocess.Popen(
                ["bash", "-e", "-c", text], stdout=said, stderr=said, start_new_session=True
            )
            try:
                code = started.wait(timeout=600)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(started.pid, signal.SIGKILL)
        assert code == 0, (folder / "said").read_text()[-3000:]

    return run


def _scripts():
    page = ROOT / RUN_ELSEWHERE[0]
    lines = [line for block in blocks(page) if not block.startswith("#!") for line in block.splitlines()]
    return [line for line in lines if line.strip()] + [each for each in blocks(page) if each.startswith("#!")]


@pytest.mark.parametrize("script", _scripts(), ids=lambda script: script.strip().splitlines()[-1][:60])
def test_what_a_cluster_is_told_runs_on_one_machine(script, folder, shell, request):
    page = ROOT / RUN_ELSEWHERE[0]
    modules_of(page, folder)
    scene.array(folder / "x.npy")
    scene.array(folder / "images-or-rows.npy")
    if "dask scheduler" in script:
        pytest.importorskip("distributed")
        script = script.replace("8786", str(_free_port()))
    elif "--dask" in script:
        script = re.sub(r"tcp://[\w.:]+", request.getfixturevalue("scheduler"), script)
    elif "--executor slurm" in script:
        pytest.importorskip("submitit")
    shell(smaller(script))
    assert [folder / name for name in ("model", "results", "run1") if (folder / name).exists()]


def _free_port():
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel that docs/install.md builds, of the files that git knows."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in subprocess.check_output(["git", "-C", ROOT, "ls-files", "-z"], text=True).split("\0"):
        if name.startswith(("src/", "pyproject", "README", "LICENSE")) and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    line = next(line for line in _lines("docs/install.md") if line.startswith("pip wheel"))
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(line)], cwd=folder, capture_output=True, text=True
    )
    if "hatchling" in done.stderr and done.returncode:
        pytest.skip("hatchling, which builds the wheel, can't be had here")
    assert done.returncode == 0, done.stderr
    return folder


def test_the_wheel_is_compact_and_is_installed_by_the_line_shown(wheel, tmp_path):
    line = next(line for line in _lines("docs/install.md") if line.startswith("pip install dist/"))
    made = wheel / shlex.split(line)[2]
    assert made.is_file() and made.stat().st_size < 2_000_000
    install = [sys.executable, "-m", *shlex.split(line), "--quiet", "--no-deps", "--target", str(tmp_path)]
    subprocess.run(install, cwd=wheel, check=True)
    asked = [sys.executable, "-m", "unmix", "--version"]
    told = subprocess.run(
        asked, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True
    )
    assert told.stdout.decode().strip() == unmix.__version__
    assert (tmp_path / "unmix" / "report" / "templates" / "explorer" / "plane.js").is_file()


@pytest.mark.parametrize("line", [line for page in PAGES for line in _lines(page) if _of_a_checkout(line)])
def test_pip_takes_a_checkout_by_the_line_shown(line, wheel):
    words = [sys.executable, "-m", *shlex.split(line, comments=True), "--dry-run", "--no-deps"]
    done = subprocess.run(words, cwd=wheel, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    asked = re.findall(r"[a-z]+(?=[\],])", shlex.split(line, comments=True)[-1])
    assert set(asked) <= set(metadata("unmix").get_all("Provides-Extra"))
    assert f"Would install unmix-{unmix.__version__}" in done.stdout


def test_what_make_is_told_is_a_target():
    shown = {
        line.split()[1]
        for path in PAGES
        for block in blocks(path)
        for line in block.splitlines()
        if line.startswith("make ")
    }
    assert shown >= {"demo", "test"}
    assert subprocess.run(["make", "-n", *shown], cwd=ROOT, capture_output=True).returncode == 0
