"""Run the tutorials, and keep what they print: python tools/notebooks.py [--check] docs/tutorials/*.py.

A tutorial is a script in cells: `# %% [markdown]` begins text, `# %%` code, and a line `# !unmix fit` is a
command of the shell. The notebook beside it has the same cells and their output: what is printed, the value
of a last expression, and figures. It is written without Jupyter, and opens in it. `--check` runs the
script and compares instead: words must be equal, and numbers nearly.
"""

import argparse
import ast
import base64
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NUMBER = re.compile(r"(?<![\w.])-?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:e-?\d+)?")  # .5, too
RELATIVE, ABSOLUTE = 0.1, 0.03  # another processor rounds otherwise; whole numbers below 10 must be equal
DOTS = 80  # per inch, of figures
Cell = dict[str, Any]


def cells_of(script: str) -> Iterator[tuple[str, str]]:
    """Split a script into pairs of kind and source, as a notebook shows them."""
    for part in re.split(r"^# %%", script, flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        kind = "markdown" if "[markdown]" in head else "code"
        prefix = r"^# ?(?=!)" if kind == "code" else r"^# ?"
        yield kind, re.sub(prefix, "", body.strip("\n"), flags=re.MULTILINE)


def built(script: str) -> dict[str, Any]:
    """Run all cells of a script, one after the other in one name space, and return the notebook."""
    space: dict[str, Any] = {"__name__": "__main__"}
    cells = [_cell(kind, source, at) for at, (kind, source) in enumerate(cells_of(script))]
    for count, cell in enumerate((cell for cell in cells if cell["cell_type"] == "code"), 1):
        cell |= {"execution_count": count, "outputs": _outputs("".join(cell["source"]), space, count)}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _cell(kind: str, source: str, at: int) -> Cell:
    cell = {"cell_type": kind, "id": f"cell-{at}", "metadata": {}, "source": source.splitlines(keepends=True)}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def _outputs(source: str, space: dict[str, Any], count: int) -> list[Cell]:
    """Run one cell, and return what Jupyter would show of it, without what is said on standard error."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        value = _shell(source) if source.startswith("!") else _python(source, space)
    outputs = [_stream(printed.getvalue())] if printed.getvalue() else []
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        outputs.append(
            {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": data}
        )
    return outputs + _figures()


def _stream(text: str) -> Cell:
    return {"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)}


def _python(source: str, space: dict[str, Any]) -> Any:
    """Run statements, and return the value of a last expression that does not end in a semicolon."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<tutorial>", "exec"), space)  # noqa: S102  (a tutorial of ours)
    if not isinstance(last, ast.Expr):
        return None
    value = eval(compile(ast.Expression(last.value), "<tutorial>", "eval"), space)  # noqa: S307
    return None if source.rstrip().endswith(";") else value


def _shell(source: str) -> None:
    """Run commands as a shell would that finds `unmix` and `python` in this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    commands = re.sub(r"^!", "", source, flags=re.MULTILINE)
    commands = re.sub(r"^unmix ", f"{sys.executable} -m unmix ", commands, flags=re.MULTILINE)
    done = subprocess.run(  # noqa: S602  (a tutorial of ours)
        f"set -e\n{commands}", shell=True, text=True, capture_output=True, env=os.environ | {"PATH": path}
    )
    if done.returncode:
        raise RuntimeError(f"{source}\n{done.stderr}")
    print(done.stdout, end="")


def _figures() -> list[Cell]:
    """Return the figures that a cell left open as pictures, and close them."""
    if "matplotlib.pyplot" not in sys.modules:
        return []
    import matplotlib.pyplot as plt

    return [_picture(plt.figure(number)) for number in plt.get_fignums()]


def _picture(figure: Any) -> Cell:
    import matplotlib.pyplot as plt

    kept = io.BytesIO()
    figure.savefig(kept, format="png", dpi=DOTS, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    data = {"image/png": base64.b64encode(kept.getvalue()).decode(), "text/plain": ["a figure"]}
    return {"output_type": "display_data", "metadata": {}, "data": data}


def shown(notebook: dict[str, Any]) -> list[list[str]]:
    """Return what each cell shows as texts, with one word for a figure."""
    return [[_text(output) for output in cell.get("outputs", ())] for cell in notebook["cells"]]


def _text(output: Cell) -> str:
    return "".join(output["text"] if "text" in output else output["data"]["text/plain"])


def difference(kept: dict[str, Any], made: dict[str, Any]) -> str:
    """Say where two notebooks differ, or nothing: sources and words exactly, numbers nearly."""
    sources = (
        ["".join(cell["source"]) for cell in kept["cells"]],
        ["".join(cell["source"]) for cell in made["cells"]],
    )
    if sources[0] != sources[1]:
        return "the cells of the notebook are not those of the script"
    for source, before, after in zip(sources[0], shown(kept), shown(made), strict=True):
        if len(before) != len(after) or not all(map(_alike, before, after)):
            return f"{source}\nshowed {before}\nand now {after}"
    return ""


def _alike(kept: str, made: str) -> bool:
    words = [" ".join(NUMBER.sub("#", text).split()) for text in (kept, made)]
    pairs = zip(*(map(_value, NUMBER.findall(text)) for text in (kept, made)), strict=False)
    return words[0] == words[1] and all(abs(a - b) <= ABSOLUTE + RELATIVE * abs(b) for a, b in pairs)


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def main() -> None:
    """Write or check the notebooks of the scripts that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scripts", nargs="+", type=Path)
    parser.add_argument(
        "--check", action="store_true", help="compare with the notebook instead of writing it"
    )
    asked = parser.parse_args()
    os.environ |= {"MPLBACKEND": "Agg", "COLUMNS": "100", "NO_COLOR": "1"}
    for script in (path.resolve() for path in asked.scripts):
        beside = script.with_suffix(".ipynb")
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            notebook = built(script.read_text(encoding="utf-8"))
        if not asked.check:
            beside.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        elif said := difference(json.loads(beside.read_text(encoding="utf-8")), notebook):
            sys.exit(f"{beside.name}: {said}\nRun `make tutorials`.")


if __name__ == "__main__":
    main()
