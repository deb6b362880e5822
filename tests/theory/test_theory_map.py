"""The theorem map names checkers, estimators, penalties and files that exist, for five papers and atoms."""

import re
from pathlib import Path

import unmix

ROOT = Path(__file__).parents[2]
MAP = (ROOT / "docs/theorems.md").read_text(encoding="utf-8")
HEADER = "| Theorem | Condition | Checker | Estimator | Experiment |"


def rows():
    """Cells of every row of the tables with this header."""
    for table in MAP.split(HEADER)[1:]:
        for line in table.splitlines()[2:]:
            if not line.startswith("|"):
                break
            yield [cell.strip() for cell in line.strip("|").split("|")]


def test_there_is_a_table_for_each_paper_and_one_for_dictionaries():
    arxiv = ("2604.17568", "2604.13218", "2503.00639", "2509.22196", "2603.11970", "1606.06997")
    assert MAP.count(HEADER) == 6 and all(number in MAP for number in arxiv)
    assert len(list(rows())) >= 25


def test_every_certifier_of_the_library_is_in_the_map():
    named = set(re.findall(r"`(\w+)`", " ".join(cells[2] for cells in rows())))
    certifiers = {name for name in unmix.theory.__all__ if name.startswith("certify")}
    assert certifiers <= named


def test_every_name_in_the_map_exists():
    known = {*unmix.theory.__all__, *unmix.estimators.__all__, *unmix.penalties.__all__}
    for _, _, checker, estimator, _ in rows():
        for name in re.findall(r"`([A-Za-z_]\w+)`", checker.partition(" with ")[0] + estimator):
            assert name in known, name
        for name in re.findall(r"`Structure\.(\w+)`", checker):
            assert hasattr(unmix.structure.Structure([[1]]), name), name


def test_every_attribute_in_the_map_exists():
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src/unmix/theory").rglob("*.py"))
    for cells in rows():
        for name in re.findall(r"`\.(\w+)", cells[2]):
            assert re.search(rf"\b{name}\b\s*(:|\()", sources), name


def test_every_experiment_is_a_file_a_table_or_the_one_above():
    for cells in rows():
        names = re.findall(r"`([^`]+)`", cells[4])
        assert names or cells[4] == "the same", cells
        for name in names:
            tables = name.removeprefix("unmix reproduce ").split() if name.startswith("unmix ") else ()
            files = [f"src/unmix/experiments/papers/{table.replace('.', '/')}.py" for table in tables] or [
                name
            ]
            assert all((ROOT / file).is_file() for file in files), cells
