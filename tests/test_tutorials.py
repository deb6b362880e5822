"""Tutorials run by themselves, and their notebooks show what they print now."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOOL = ROOT / "tools" / "notebooks.py"
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.py"))
QUICK = ("06_before_data",)  # the others are slow


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("notebooks", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def notebook_of(path):
    return json.loads(path.with_suffix(".ipynb").read_text(encoding="utf-8"))


def test_there_are_nine_and_each_has_its_notebook():
    assert len(TUTORIALS) == 9
    assert [path.stem for path in sorted(TUTORIALS[0].parent.glob("*.ipynb"))] == [p.stem for p in TUTORIALS]


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_notebook_has_the_cells_of_its_script_and_every_cell_was_run(path, tool):
    notebook, cells = notebook_of(path), list(tool.cells_of(path.read_text(encoding="utf-8")))
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]] == cells
    assert cells[0][0] == "markdown" and cells[0][1].startswith("# ")
    counts = [cell["execution_count"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1))
    assert any(tool.shown(notebook))
    assert path.with_suffix(".ipynb").stat().st_size < 500_000
    assert "/tmp/" not in json.dumps(tool.shown(notebook)), "a place of one machine"


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=() if path.stem in QUICK else pytest.mark.slow) for path in TUTORIALS],
    ids=lambda path: path.stem,
)
def test_a_tutorial_prints_what_its_notebook_shows(path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(TOOL), "--check", str(path)],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_words_must_be_equal_and_numbers_nearly(tool):
    script = "# %% [markdown]\n# # Words\n# %%\nprint('MCC', 0.5 + 0.49)\n3 + 4\n"
    kept = tool.built(script)
    assert tool.shown(kept) == [[], ["MCC 0.99\n", "7"]]
    assert tool.difference(kept, tool.built(script)) == ""
    changed = json.loads(json.dumps(kept))
    for shown, differs in (("MCC 0.97\n", False), ("MCC 0.80\n", True), ("MCC -0.99\n", True)):
        changed["cells"][1]["outputs"][0]["text"] = [shown]
        assert bool(tool.difference(changed, kept)) == differs
    changed["cells"][1]["outputs"][0]["text"] = ["R2 0.99\n"]
    assert "and now" in tool.difference(changed, kept)
    changed["cells"][1]["outputs"].pop()
    assert "and now" in tool.difference(changed, kept)
    changed["cells"][1]["source"] = ["print('MCC')\n"]
    assert "not those of the script" in tool.difference(changed, kept)


def test_numbers_without_a_digit_before_the_point_are_numbers(tool):
    """Tables have them, and the last digits are those of one processor."""

    def printed(number):
        return tool.built(f"# %% [markdown]\n# # Words\n# %%\nprint('leak', '{number}')\n")

    kept = printed(".072")
    for number, differs in ((".100", False), ("-.072", True), (".400", True)):
        made = json.loads(json.dumps(kept))
        made["cells"][1]["outputs"] = printed(number)["cells"][1]["outputs"]
        assert bool(tool.difference(kept, made)) == differs


def test_commands_of_the_shell_are_run_and_a_failing_one_stops(tool, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    kept = tool.built("# %%\n# !echo one\n# !unmix --version\n")
    assert "".join(kept["cells"][0]["source"]) == "!echo one\n!unmix --version"
    assert tool.shown(kept)[0][0].startswith("one\n0.")
    with pytest.raises(RuntimeError, match="no-such-file"):
        tool.built("# %%\n# !ls no-such-file\n# !echo two\n")


def test_a_figure_is_kept_and_closed(tool, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    kept = tool.built("# %%\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);\n")
    assert [output["output_type"] for output in kept["cells"][0]["outputs"]] == ["display_data"]
    import matplotlib.pyplot as plt

    assert plt.get_fignums() == []
