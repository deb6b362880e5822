"""The commands that need no model: certify and evaluate, help, and every way to hold them wrong."""

import json
import os
import shlex
import signal
import subprocess
import sys

import numpy as np
import pytest

from unmix.metrics import mcc
from unmix.structure import Structure
from unmix.tables import read, write
from unmix.theory import certify

MASK = Structure([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]])
COMMANDS = ["demo", "simulate", "fit", "trust", "transform", "evaluate", "certify", "compare", "report"]


@pytest.fixture
def tables(tmp_path):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(200, 3))
    x = z @ rng.normal(size=(3, 4))
    np.savez(tmp_path / "data.npz", x=x, z=z)
    write(tmp_path / "z_hat.csv", -z[:, ::-1] + 0.1 * rng.normal(size=z.shape))
    return tmp_path


@pytest.mark.parametrize("suffix", ["csv", "npy", "json", "npz"])
def test_certify_reads_every_mask(suffix, tmp_path, unmix_json):
    path = tmp_path / f"mask.{suffix}"
    if suffix == "npz":
        np.savez(path, structure=MASK.support, x=np.ones((2, 2)))
    else:
        MASK.write(path)
    document = unmix_json("certify", path)
    expected = json.loads(json.dumps(certify(MASK).to_dict()))
    assert {name: document[name] for name in expected} == expected
    assert {"blocks", "may_depend", "separated_in_paper", "clauses", "levels", "reasons"} <= document.keys()


def test_certify_with_independent_latents(tmp_path, unmix_json):
    nested = Structure([[1, 1], [0, 1], [0, 1]])
    nested.write(tmp_path / "mask.csv")
    assert unmix_json("certify", tmp_path / "mask.csv")["levels"] == ["element if independent", "element"]
    assert unmix_json("certify", tmp_path / "mask.csv", "--independent")["levels"] == ["element", "element"]


def test_certify_tells_a_person_and_writes_a_file(tmp_path, unmix):
    MASK.write(tmp_path / "mask.csv")
    result = unmix("certify", tmp_path / "mask.csv", "--out", tmp_path / "certificate.json")
    assert result.code == 0 and result.err == ""
    assert result.out.startswith("If this structure is right, ") and "identified alone" in result.out
    assert json.loads((tmp_path / "certificate.json").read_text())["levels"] == ["element"] * 3


def test_evaluate_scores_beside_raw_x_and_floor(tables, unmix_json):
    data, out = tables / "data.npz", tables / "s.json"
    document = unmix_json("evaluate", data, tables / "z_hat.csv", "--x", data, "--out", out)
    z, x = read(f"{tables}/data.npz:z").values, read(f"{tables}/data.npz:x").values
    assert document["mcc"]["value"] == pytest.approx(mcc(z, read(tables / "z_hat.csv").values))
    assert document["mcc"]["raw"] == pytest.approx(mcc(z, x))
    assert 0 < document["mcc"]["floor"] < 1
    assert json.loads(out.read_text()) == document


def test_evaluate_scores_the_metrics_named(tables, unmix_json):
    paths = (tables / "data.npz", tables / "z_hat.csv")
    document = unmix_json("evaluate", *paths, "--metrics", "mcc.spearman, mig,dci.completeness")
    assert list(document) == ["mcc.spearman", "mig", "dci.completeness"]
    assert document["dci.completeness"]["probe"] == "trees"
    assert document["mig"]["factors"] == "All factors continuous (detected)."


@pytest.mark.parametrize("suffix", ["csv", "json", "html"])
def test_evaluate_writes_the_table_it_prints(suffix, tables, unmix):
    out = tables / f"scores.{suffix}"
    result = unmix("evaluate", tables / "data.npz", tables / "z_hat.csv", "--out", out)
    assert result.code == 0 and "mcc" in out.read_text()


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        ("none", "All factors continuous (declared)."),
        ("1", "Discrete factors 1, the others continuous (declared)."),
    ],
)
def test_evaluate_takes_discrete_factors(said, decision, tables, unmix_json):
    z = np.column_stack([np.arange(60.0), np.arange(60) % 3])
    np.save(tables / "z.npy", z)
    document = unmix_json(
        "evaluate", tables / "z.npy", tables / "z.npy", "--metrics", "mig", "--discrete", said
    )
    assert document["mig"]["factors"] == decision


def test_evaluate_reminds_of_raw_x(tables, unmix):
    result = unmix("evaluate", tables / "data.npz", tables / "z_hat.csv")
    assert result.code == 0 and "mcc" in result.out and "Pass --x" in result.out


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_shows_an_example(command, unmix):
    result = unmix(*command.split(), "--help")
    assert result.code == 0 and f"Example: unmix {command or 'demo'}" in result.out
    if command:
        assert "--json" in result.out and "--out" in result.out


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("unmix ex", ["explore"]), ("unmix fit x.csv --n-", ["--n-components", "--n-restarts"])],
)
def test_shells_complete_commands_and_options(typed, offered, unmix, monkeypatch):
    for name, value in (("WORDS", typed), ("CWORD", str(len(typed.split()) - 1))):
        monkeypatch.setenv(f"COMP_{name}", value)
    monkeypatch.setenv("_UNMIX_COMPLETE", "complete_bash")
    assert unmix().out.split() == offered


def test_no_command_shows_the_help_and_version_the_version(unmix):
    assert "certify" in unmix().out
    assert unmix("--version").out.strip() == __import__("unmix").__version__


def bad_lines():
    """Name each wrong use, its arguments and what the error has to say."""
    return [
        ("unknown command", ["nope"], "No such command"),
        ("unknown option", ["certify", "{mask}", "--nope"], "No such option"),
        ("missing argument", ["certify"], "Missing argument"),
        ("missing option", ["fit", "{data}", "--n-components", "2"], "Missing option"),
        ("not a number", ["simulate", "--n", "five", "--out", "d.npz"], "Invalid value"),
        (
            "not a choice",
            ["fit", "{data}", "--n-components", "2", "--out", "m", "--method", "pca"],
            "Invalid value",
        ),
        ("no such mask", ["certify", "gone.csv"], "gone.csv"),
        ("no such model", ["certify", "gone"], "gone"),
        ("trust in no model", ["trust", "gone", "{data}"], "gone"),
        ("trust in a picture", ["trust", "m", "{data}", "--out", "v.png"], "must end in"),
        ("no such effort", ["trust", "m", "{data}", "--effort", "much"], "Invalid value"),
        ("no such table", ["evaluate", "gone.csv", "{data}"], "gone.csv"),
        ("mask with text", ["certify", "{text}"], "cat"),
        ("mask of other numbers", ["certify", "{twos}"], "2"),
        ("ragged table", ["evaluate", "{data}", "{ragged}"], "row 2"),
        ("NaN", ["evaluate", "{data}", "{nan}"], "missing values"),
        ("text column", ["evaluate", "{data}", "{text}"], "column 'b' holds the text 'cat'"),
        ("truncated", ["evaluate", "{data}", "{truncated}"], "whole NPZ"),
        ("no such key", ["evaluate", "{data}:q", "{data}:z"], "must hold an array 'q'"),
        ("no such metric", ["evaluate", "{data}", "{data}:z", "--metrics", "mcc,nope"], "got 'nope'"),
        ("no such factor", ["evaluate", "{data}", "{data}:z", "--discrete", "9"], "`--discrete` must be"),
        ("scores as text", ["evaluate", "{data}", "{data}:z", "--out", "s.txt"], "must end in"),
        ("rows differ", ["evaluate", "{data}", "{mask}"], "rows"),
        ("certificate elsewhere", ["certify", "{mask}", "--out", "no/such/c.json"], "Make the folder first"),
        ("certificate as a table", ["certify", "{mask}", "--out", "c.csv"], "must end in"),
        ("data elsewhere", ["simulate", "--out", "no/such/d.npz"], "Make the folder first"),
        ("data as CSV", ["simulate", "--out", "d.csv"], "must end in .npz"),
        (
            "model elsewhere",
            ["fit", "{data}", "--n-components", "2", "--out", "no/such/m"],
            "Make the folder",
        ),
        ("latents as text", ["transform", "m", "{data}", "--out", "z.txt"], "must end in"),
        ("report as text", ["report", "m", "--data", "{data}", "--out", "r.txt"], "must end in"),
        ("demo on a file", ["demo", "--out", "{mask}"], "must be a folder"),
    ]


@pytest.mark.parametrize(("line", "words"), [pytest.param(*case[1:], id=case[0]) for case in bad_lines()])
def test_bad_input_ends_with_two_and_one_line(line, words, tables, refused):
    MASK.write(tables / "mask.csv")
    (tables / "text.csv").write_text("a,b\n1,2\n3,cat\n")
    (tables / "twos.csv").write_text("2,0\n0,1\n")
    (tables / "ragged.csv").write_text("1,2\n3\n")
    (tables / "nan.csv").write_text("1,2\nnan,4\n")
    (tables / "truncated.npz").write_bytes((tables / "data.npz").read_bytes()[:300])
    refused(tables, line, words)


def test_certify_and_help_start_without_torch(tmp_path):
    MASK.write(tmp_path / "mask.csv")
    code = (
        "import sys; from unmix.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: assert not {'torch', 'matplotlib', 'sklearn'} & sys.modules.keys()"
    )
    for arguments in (["certify", str(tmp_path / "mask.csv"), "--json"], ["--help"], ["fit", "--help"]):
        subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, timeout=60)


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    Structure(np.ones((60, 60))).write(tmp_path / "mask.csv")
    command = f"{sys.executable} -c 'from unmix.cli import main; main()' certify {tmp_path}/mask.csv --json"
    done = subprocess.run(f"{command} | head -c 10", shell=True, capture_output=True, timeout=60)
    assert done.stdout == b'{"structur' and b"Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_an_interrupt_ends_with_130_and_one_line(tmp_path):
    (tmp_path / "mask.csv").write_text("1,0\n0,1\n")
    waits = "lambda path: (print('ready', flush=True), time.sleep(60))"  # until we interrupt
    imports = "import time; from unmix.cli import main; from unmix.structure import Structure"
    code = f"{imports}; Structure.read = {waits}; main()"
    child = subprocess.Popen(
        [sys.executable, "-c", code, "certify", str(tmp_path / "mask.csv")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    command = shlex.join(["unmix", "certify", str(tmp_path / "mask.csv")])
    said = f"unmix: interrupted. No file was left unfinished. To start again: {command}\n"
    assert (child.returncode, out, err) == (130, "", said)
