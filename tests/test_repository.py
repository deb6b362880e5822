"""What the documents say about the repository is so."""

import doctest
import importlib.util
import inspect
import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
import yaml

import families
import unmix
from unmix.cli import _app
from unmix.experiments import EXPERIMENTS, Store, load_experiment, summarise

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PAGES = sorted((ROOT / "docs").rglob("*.md"))
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, flags=re.MULTILINE))
COMMANDS = [command.name for command in _app.app.registered_commands]


def text_of(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_make_target_named_exists(path):
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", text_of(path), flags=re.MULTILINE))
    assert named <= TARGETS


def test_readme_names_the_two_commands():
    assert {"demo", "test"} <= set(re.findall(r"^make ([a-z-]+)", README, flags=re.MULTILINE))
    assert {"demo", "test", "help", "check", "bench", "docs", "golden"} <= TARGETS


def test_help_lists_every_target_that_has_words():
    documented = re.findall(r"^([a-z-]+):.*##", MAKEFILE, flags=re.MULTILINE)
    assert TARGETS - set(documented) == set()


def test_one_version_everywhere():
    changelog = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", text_of(ROOT / "CHANGELOG.md"), flags=re.MULTILINE)
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))
    assert unmix.__version__ == changelog[0]
    assert yaml.safe_load(text_of(ROOT / "CITATION.cff"))["version"] == changelog[0]
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/unmix/_version.py"


def test_every_command_is_shown_and_no_other():
    shown = re.findall(
        r"^(?:\| `)?unmix ([a-z]+)", text_of(ROOT / "docs/command-line.md"), flags=re.MULTILINE
    )
    assert list(dict.fromkeys(shown)) == COMMANDS


def test_the_readme_is_short_and_shows_what_to_type_for_a_file():
    shown = re.findall(r"^unmix ([a-z]+)", README, flags=re.MULTILINE)
    assert shown == ["choose", "fit", "trust", "transform", "explore"]
    assert len(README.splitlines()) < 130 and "<!-- table" not in README
    assert all((ROOT / path).is_file() for path in re.findall(r"!\[.*?\]\((.+?)\)", README))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_option_shown_exists(path):
    for name, line in re.findall(r"^unmix ([a-z]+)(.*)$", text_of(path), flags=re.MULTILINE):
        shown = set(re.findall(r"--[a-z-]+", line.partition("#")[0]))
        assert shown <= options_of(name), f"unmix {name}{line}"


def options_of(name):
    import typer.main

    command = typer.main.get_command(_app.app).commands[name]
    return {option for parameter in command.params for option in parameter.opts}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_within_the_repository_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)", text_of(path)):
        assert "://" in target or (path.parent / target).exists(), target


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.slow if path.name == "pdgmm.md" else ()) for path in PAGES],
    ids=lambda path: path.name,
)
def test_what_a_page_shows_is_what_python_prints(path):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testfile(str(path), module_relative=False, optionflags=flags).failed == 0


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_python_block_compiles(path):
    for block in re.findall(r"^```python\n(.*?)^```", text_of(path), flags=re.MULTILINE | re.DOTALL):
        if ">>>" not in block:
            assert compile(block, path.name, "exec"), block


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_name_written_as_code_exists(path):
    for dotted in re.findall(r"`unmix\.([a-z]+(?:\.\w+)*)", text_of(path)):
        found = unmix
        for part in dotted.split("."):
            assert hasattr(found, part), dotted
            found = getattr(found, part)


@pytest.mark.parametrize(
    "room",
    [
        "structure",
        "rows",
        "tables",
        "theory",
        "metrics",
        "data",
        "penalties",
        "objectives",
        "nn",
        "training",
        "evidence",
        "deconfound",
        "description",
        "choice",
    ],
)
def test_every_public_name_has_its_place_in_the_api(room):
    page = text_of(ROOT / "docs" / "api" / f"{room}.md")
    assert set(re.findall(rf"::: unmix\.{room}\.(\w+)", page)) == set(getattr(unmix, room).__all__)


def test_the_picture_of_the_rooms_is_that_of_the_layers():
    picture = re.search(r"<!-- rooms -->\n```\n(.*?)```", text_of(ROOT / "CONTRIBUTING.md"), re.DOTALL)[1]
    floors = re.split(r"^─+\n", picture, flags=re.MULTILINE)
    drawn = [" | ".join(line.split()[0] for line in floor.splitlines()) for floor in floors]
    contracts = tomllib.loads(text_of(ROOT / "pyproject.toml"))["tool"]["importlinter"]["contracts"]
    assert drawn == contracts[0]["layers"]


def test_the_page_of_methods_lists_every_estimator_and_penalty():
    page = text_of(ROOT / "docs" / "methods.md")
    for member in (
        *families.ESTIMATORS,
        *families.TRANSFORMERS,
        *families.DICTIONARIES,
        *families.IMAGE_READERS,
        *families.PENALTIES,
    ):
        assert f"`{families.public_name(member)}`" in page


def test_every_metric_is_in_a_family():
    kinds = (
        families.METRICS,
        families.DISTANCES,
        families.CLOUDS,
        families.GRAPHS,
        families.PATTERNS,
        families.SPARSITIES,
        families.CODES,
    )
    # of dictionaries of features, which have no truth beside them; tested by themselves
    tools = {"census", "participation_ratio", "random_dictionary", "replicate_features"}
    tools |= {"content_distance", "frechet_distance", "kernel_distance"}  # between sets of images
    assert families.missing(unmix.metrics, *kinds, tools=tools) == set()


def test_every_condition_is_in_a_family():
    constants = [member for member, *_ in families.CONSTANTS]
    kinds = (families.CONDITIONS, families.FACTORS, families.RESAMPLES, constants)
    # a second model, derivatives, and what is said of atoms instead of a structure: tested by themselves
    atoms = {"certify_dictionary", "spark", "mutual_coherence", "restricted_isometry", "cumulative_coherence"}
    tools = {"counterexample", "finite_differences", "cofiring", "exact_recovery"} | atoms
    assert families.missing(unmix.theory, *kinds, tools=tools) == set()


def test_every_penalty_structure_and_generator_is_in_a_family():
    # what penalties are made of or checked by, and the terms of one method that see no decoder
    tools = {"check_penalty", "jacobian_sparsity", "edge_count", "domain_code", "mask_sparsity"}
    assert families.missing(unmix.penalties, families.PENALTIES, tools=tools) == set()
    assert families.missing(unmix.structure, families.STRUCTURES, tools={"triangular_edges"}) == set()
    generators = (families.GENERATORS, families.MIXTURES, families.SLOTS, families.IMAGES)
    tools = {  # of files of images, and of activations, which have no known latents
        "read_images",
        "load_factors",
        "write_images",
        "paired_styles",
        "two_colours",
        "domain_of",
        "read_activations",
        "store_activations",
        "verify_activations",
        "collect_activations",
        "read_language_model",
        "site_named",
        "spliced_losses",
        "SITES",
    }
    assert families.missing(unmix.data, *generators, tools=tools) == set()


def test_every_estimator_is_in_a_family():
    estimators = {
        name for name in unmix.estimators.__all__ if inspect.isclass(getattr(unmix.estimators, name))
    }
    members = (
        *families.ESTIMATORS,
        *families.TRANSFORMERS,
        *families.DICTIONARIES,
        *families.IMAGE_MAKERS,
        *families.IMAGE_READERS,
    )
    listed = {type(member).__name__ for member in members}
    assert listed == estimators - {"LatentEstimator"}  # their common base


def test_what_stands_in_no_family_is_noticed():
    assert families.missing(unmix.metrics, families.METRICS[1:]) >= {"shd", "udr"}
    assert families.missing(unmix.structure, families.STRUCTURES[1:]) == {"diverse", "triangular_edges"}
    invented = families.through(unmix.metrics.mcc, unmix.metrics.mcc)
    invented.__name__ = "no_metric"
    assert "no_metric" in families.missing(unmix.metrics, [invented])


def test_pre_commit_runs_the_checks_of_the_makefile_without_network():
    hooks = yaml.safe_load(text_of(ROOT / ".pre-commit-config.yaml"))["repos"]
    assert {repository["repo"] for repository in hooks} == {"local"}
    entries = [hook["entry"].split()[0] for hook in hooks[0]["hooks"]]
    assert entries == ["ruff", "ruff", "mypy", "lint-imports"]
    assert all(f"$(BIN)/{entry}" in MAKEFILE for entry in entries)


@pytest.fixture(scope="module")
def tables():
    """Import the script that fills the tables of the documents, and gather what is stored."""
    spec = importlib.util.spec_from_file_location("tables", ROOT / "docs/tables.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script, summarise(Store(ROOT / "results").records())


@pytest.fixture(scope="module")
def units(tables):
    """Gather the stored runs of the calibration of trust."""
    return tables[0].trust_units(ROOT / "results")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_tables_of_a_document_are_those_of_the_stored_results(path, tables, units):
    script, stored = tables
    assert script.filled(text_of(path), stored, units) == text_of(path), "run `make results`"


def test_coefficients_are_those_of_the_stored_runs(tables, units):
    judgement, kept = tables[0].judgement, json.loads(text_of(ROOT / "src/unmix/evidence/calibration.json"))
    made = judgement.coefficients(units, ())
    assert kept["threshold"] == made["threshold"] and kept["chains"].keys() == made["chains"].keys()
    for kind, efforts in made["chains"].items():
        for effort, chain in efforts.items():
            for name, values in chain.items():
                assert kept["chains"][kind][effort][name] == pytest.approx(values, abs=0.1), (kind, effort)


def test_the_table_of_trust_has_a_line_for_every_family_and_says_what_was_trusted(tables):
    script, names = tables[0], ["sparse: networks", "null: noise"]
    family, world = np.repeat(names, 20), np.repeat(np.arange(10), 4)
    strength = np.where(family == names[0], 2.0, -2.0)
    units = script.judgement.Units("sparse", family, world, strength > 0, {("none", "a link"): strength})
    head, _, *rows = script.trust_block({"sparse": units}).splitlines()[2:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [row[0] for row in cells] == [*names, "sparse, all", "sparse, null"]  # one kind: nothing to add up
    assert all(len(row) == head.count("|") - 1 for row in cells)
    assert cells[0][1:4] == ["5", "20", "20"] and cells[1][1:4] == ["5", "20", "0"]
    assert cells[0][4:8] == ["20", "20 (100%)", "100%", "0 of 5"] and cells[1][4:8] == ["0", "", "", "5 of 5"]
    assert "not run yet" in script.trust_block({})


def test_null_worlds_and_numbers_of_latents_are_counted_with_intervals(tables, units):
    script, stored = tables
    found = {table.experiment: table for table in stored if table.budget != "smoke"}
    units = {kind: units[kind] for kind in script.TRUST[script.judgement.EXPERIMENT]}
    head, _, *rows = script.nulls_block(found[script.NULLS], units).splitlines()[2:]
    assert len(rows) == len(script.nulls.WORLDS) and all(row.count("|") == head.count("|") for row in rows)
    for cells in ([cell.strip() for cell in row.strip("| ").split(" | ")] for row in rows):
        counts = np.array(
            [cell.split(" of ") if cell else (0, 0) for cell in np.array(cells)[[1, 3, 4]]], int
        )
        assert (counts[0] + counts[1] == counts[2]).all() and counts[2, 0] <= counts[2, 1]
    made = script.number_block(found[script.NUMBER])
    count, n = map(int, re.findall(r"all families\*\* \| (\d+) of (\d+)", made)[0])
    assert ("**missed**" in made) == (count < 0.9 * n) and "not run yet" in script.number_block(None)
    assert script._likely(9, 10) == "90% (60% to 98%)"


def test_goals_of_trust_that_are_missed_are_said_to_be(tables, units):
    script = tables[0]
    units = {kind: units[kind] for kind in script.TRUST[script.judgement.EXPERIMENT]}
    rows = [row.strip("| ").split(" | ") for row in script.goals_block(units).splitlines()[2:]]
    assert len({row[0] for row in rows}) == len(rows) == 3 + 3 + 2 + len(units) + 1
    assert all((row[3] == "met") == (float(row[2]) >= float(row[1])) for row in rows)
    line = {each.name: each for each in script.judgement.lines(units, "full")}["every kind alike, all"]
    assert f"{line.recall:.3f}" in {row[2] for row in rows}
    assert "not run yet" in script.goals_block({})


def test_a_table_that_was_not_run_says_so_and_only_its_place_is_written(tables):
    script, stored = tables
    text = "before\n<!-- table {} -->\nold\n<!-- /table -->\nafter\n"
    made = script.filled(text.format("ddl.recovery"), ())
    assert made == text.format("ddl.recovery").replace("old", "`unmix reproduce ddl.recovery`: not run yet.")
    for name in script.VIEWS:
        assert script.filled(text.format(name), stored).endswith("<!-- /table -->\nafter\n")


def test_every_entry_of_a_table_of_the_documents_is_a_cell(tables):
    script, _ = tables
    for name, view in script.VIEWS.items():
        cells = {(cell.row, cell.value) for cell in load_experiment(name).CELLS}
        assert set(view.values()) <= cells, name


def test_the_picture_of_results_is_drawn_from_what_is_stored(tables, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs/img"))
    draw = importlib.import_module("draw_results")
    axes = draw.draw_results(tables[1]).axes[0]
    lines = {
        (table.experiment, line.row, line.column, line.value): line.ours
        for table in tables[1]
        for line in table.lines
    }
    found = [
        lines[name, ours, at, value]
        for name, (ours, value, settings) in draw.SHOWN.items()
        for at in settings
    ]
    assert [each.lines[0].get_xdata()[0] for each in axes.containers] == found
    drawn = {text for text in text_of(ROOT / "docs/img/results.svg").split(">") if "</text" in text}
    assert {words for _, _, each in draw.SHOWN.values() for words in each.values()} <= {
        text.removesuffix("</text").strip() for text in drawn
    }


def test_the_picture_of_domains_is_drawn_from_what_is_stored(tables, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs/img"))
    draw = importlib.import_module("draw_domains")
    table = next(table for table in tables[1] if table.experiment == "cg.domains")
    sparse = draw.draw_counts(table).axes[0].lines[0]
    lines = {(line.row, line.column, line.value): line.ours for line in table.lines}
    found = [lines[draw.BOTH, f"{n} domains, graph A", draw.WITHIN] for n in draw.COUNTS]
    assert list(sparse.get_ydata()) == found


def test_a_table_on_images_has_a_line_for_each_method_and_the_papers_number_behind_a_stroke(
    tables, monkeypatch
):
    script = tables[0]
    known = {"experiment": "nearid.table2", "budget": "gpu", "code": "c", "error": None, "seconds": 1.0}
    twins = ("Shapes3D twin", "MPI3D twin", "Cars3D twin")
    records = [
        known
        | {
            "settings": {"twin": twin},
            "seed": seed,
            "values": {"InfoM of ICA": 0.8, "InfoE of ICA": 0.5 + seed / 4},
        }
        | {
            "cells": [
                {
                    "row": "AE + ICA",
                    "column": twin,
                    "value": f"{name} of ICA",
                    "better": "higher",
                    "source": "",
                }
                | {"paper": paper, "spread": None, "precision": 0.005}
                for name, paper in (("InfoM", 0.79), ("InfoE", 0.99))
            ]
        }
        for twin in twins
        for seed in (0, 1)
    ]
    monkeypatch.setitem(script.PICTURES, "nearid.table2", ("InfoM", "InfoE"))
    line = script.picture_block("nearid.table2", summarise(records)[0]).splitlines()[-1]
    entry = r" .80 .62 \| .79 .99 (2) |"
    assert line == "| AE + ICA |" + 3 * entry + r" .80 .62 \| .65 .83 .40 |"
    assert set(script.PICTURES) <= set(EXPERIMENTS)
