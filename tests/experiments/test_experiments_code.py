"""The digest of code: what changes no number leaves it alone, and what could change one does not."""

import os
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

from unmix.experiments import EXPERIMENTS, code_version
from unmix.experiments.engine import _code
from unmix.experiments.engine._definitions import Sources
from unmix.experiments.papers._references import is_reference

ROOT = Path(__file__).parent.parent.parent
TABLE = "toy.tables.first"
LONG = ("pdgmm.table1", "cg.square", "mechanistic.ablation")
TOY = {
    "__init__.py": """
        from ._version import __version__
        _ROOMS = ("maths", "tables")
        _FROM_MATHS = ("Lazy",)
        def __getattr__(name): ...
        """,
    "_version.py": '__version__ = "1.0"',
    "maths/__init__.py": """
        from ._base import Base
        from ._model import Model, Options
        from ._formulas import double, halve as half
        from ._lazy import Lazy
        """,
    "maths/_formulas.py": '''
        import numpy as np
        from .. import __version__
        WEIGHT: float = 2.0
        PAIR, OTHER = 3, 4
        def double(x: float, times: int = 2) -> float:
            """Multiply."""
            if x is None:
                raise ValueError(f"`x` must be a number, got {x}.")
            return np.multiply(WEIGHT * times, x) + PAIR
        def halve(x):
            stamp()
            return x / 2
        def even(n):
            return n == 0 or odd(n - 1)
        def odd(n):
            return n != 0 and even(n - 1)
        def stamp():
            return __version__
        def unused():
            return 0
        ''',
    "maths/_base.py": """
        class Base:
            def fit(self, x):
                return self._train(x)
            def _train(self, x):
                return x - 1
            def untouched(self):
                return 1
        """,
    "maths/_lazy.py": """
        class Lazy:
            rate = 0.1
        """,
    "maths/_model.py": """
        from dataclasses import dataclass
        from ._base import Base
        @dataclass(frozen=True)
        class Options:
            steps: int = 10
            rate: float = 0.5
        class Model(Base):
            limit = 7
            def __init__(self, options):
                self.options = options
            def slope(self):
                return self.options.rate * 2
            def extra(self):
                return 5
        """,
    "tables/__init__.py": "",
    "tables/_common.py": """
        from functools import partial
        import toy
        from toy import maths
        from toy.maths import Model, Options, double
        from ._methods import METHODS, sharp
        WEIGHT = 99
        def draw(seed):
            from ..maths._formulas import even
            return even(seed)
        def run(cell, seed, budget):
            WEIGHTS = {"one": 1}
            unused = draw(seed)
            model = Model(Options())
            scores = [double(WEIGHT) for WEIGHT in range(3)]
            found = {name: method(unused) for name, method in METHODS.items()}
            return {"mcc": maths.half(model.fit(sharp(scores))) + model.slope() + toy.Lazy.rate, **found}
        """,
    "tables/_methods.py": """
        from functools import partial
        from toy.maths import double as twice
        def plain(x):
            return x + 1
        def squared(x):
            return x**2
        METHODS = {"plain": plain}
        METHODS["squared"] = squared
        sharp = partial(twice, times=3)
        """,
    "tables/first.py": '''
        """A table."""
        from ._common import run
        __all__ = ["CELLS", "run"]
        CELLS = (1, 2)
        ''',
}


def dedented(text):
    lines = text.strip("\n").split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] for line in lines) + "\n"


def package(folder):
    for name, text in TOY.items():
        path = folder / "toy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedented(text))
    return folder / "toy"


def digest(folder, table=TABLE):
    return _code.digest(Sources(folder), [table])


@pytest.fixture
def toy(tmp_path):
    return package(tmp_path)


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    return digest(package(tmp_path_factory.mktemp("before")))


def edit(folder, file, old, new):
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))


def edit_all(folder, old, new):
    for path in folder.rglob("*.py"):
        path.write_text(path.read_text().replace(old, new))


def test_a_renamed_module_changes_nothing(toy, before):
    (toy / "maths/_formulas.py").rename(toy / "maths/_arithmetic.py")
    edit_all(toy, "_formulas", "_arithmetic")
    (toy / "tables/_common.py").rename(toy / "tables/_shared.py")
    edit(toy, "tables/first.py", "_common", "_shared")
    assert digest(toy) == before


def test_a_table_moved_to_another_folder_changes_nothing(toy, before):
    (toy / "papers").mkdir()
    (toy / "tables").rename(toy / "papers/tables")
    edit(toy, "papers/tables/_common.py", "from ..maths", "from ...maths")
    assert digest(toy, "toy.papers.tables.first") == before


def test_a_function_moved_and_renamed_changes_nothing(toy, before):
    moved = "def halve(x):\n    stamp()\n    return x / 2\n"
    edit(toy, "maths/_formulas.py", moved, "")
    (toy / "maths/_parts.py").write_text("from ._formulas import stamp\n" + moved.replace("halve", "divided"))
    edit(toy, "maths/__init__.py", ", halve as half", "\nfrom ._parts import divided as half")
    assert digest(toy) == before


def test_a_renamed_package_changes_nothing(toy, before):
    edit_all(toy, "toy", "game")
    assert digest(toy.rename(toy.with_name("game")), "game.tables.first") == before


SAME = {
    "version": ("_version.py", "1.0", "2.0"),
    "alias of another package": ("maths/_formulas.py", "np", "numeric"),
    "alias of ours": ("tables/_methods.py", "twice", "two_times"),
    "import inside a function": ("tables/_common.py", "from ..maths._formulas", "from toy.maths._formulas"),
    "name of another package": ("maths/_formulas.py", "import numpy as np", "import numpy as np, scipy"),
    "docstring": ("maths/_formulas.py", "Multiply.", "Multiply, and add."),
    "comment": ("maths/_formulas.py", "return x / 2", "return x / 2  # a half"),
    "annotation": ("maths/_formulas.py", "x: float", "x: int"),
    "no annotation": ("maths/_formulas.py", "WEIGHT: float = 2.0", "WEIGHT = 2.0"),
    "text of an error": ("maths/_formulas.py", "must be a number", "has to be a number"),
    "unused method": ("maths/_model.py", "return 5", "return 6"),
    "new method": (
        "maths/_model.py",
        "    def extra",
        "    def more(self):\n        return 8\n    def extra",
    ),
    "unused method of a base": ("maths/_base.py", "return 1", "return 2"),
    "unused function": ("maths/_formulas.py", "return 0", "return 1"),
    "unused value": ("tables/_common.py", "WEIGHT = 99", "WEIGHT = 98"),
    "title": ("tables/first.py", "A table.", "Table 1"),
    "cells": ("tables/first.py", "(1, 2)", "(1, 2, 3)"),
}
OTHER = {
    "formula": ("maths/_formulas.py", "x / 2", "x / 3"),
    "constant": ("maths/_formulas.py", "2.0", "2.5"),
    "one of two constants": ("maths/_formulas.py", "3, 4", "5, 4"),
    "which of two constants": ("maths/_formulas.py", "+ PAIR", "+ OTHER"),
    "default": ("maths/_formulas.py", "times: int = 2", "times: int = 3"),
    "type of an error": ("maths/_formulas.py", "ValueError", "TypeError"),
    "name out of another package": ("maths/_formulas.py", "np.multiply", "np.add"),
    "field of a data class": ("maths/_model.py", "rate: float = 0.5", "rate: float = 0.6"),
    "value of a class": ("maths/_model.py", "limit = 7", "limit = 8"),
    "lazy name": ("maths/_lazy.py", "0.1", "0.2"),
    "method": ("maths/_model.py", "rate * 2", "rate * 3"),
    "constructor": ("maths/_model.py", "= options", "= (options, 1)"),
    "method of a base": ("maths/_base.py", "x - 1", "x - 2"),
    "base": ("maths/_model.py", "Model(Base)", "Model"),
    "recursion": ("maths/_formulas.py", "n != 0", "n != 1"),
    "partial": ("tables/_methods.py", "times=3", "times=4"),
    "what a partial is of": ("tables/_methods.py", "double as twice", "half as twice"),
    "function in a dict": ("tables/_methods.py", "x + 1", "x + 2"),
    "function added to a dict": ("tables/_methods.py", "x**2", "x**3"),
    "key of a dict": ("tables/_methods.py", '"plain"', '"simple"'),
    "run": ("tables/_common.py", "range(3)", "range(4)"),
}


@pytest.mark.parametrize("name", SAME)
def test_what_changes_no_number_changes_nothing(toy, before, name):
    edit(toy, *SAME[name])
    assert digest(toy) == before


@pytest.mark.parametrize("name", OTHER)
def test_what_could_change_a_number_is_seen(toy, before, name):
    edit(toy, *OTHER[name])
    assert digest(toy) != before


def test_all_changes_are_different(tmp_path):
    seen = set()
    for name, change in OTHER.items():
        folder = package(tmp_path / name)
        edit(folder, *change)
        seen.add(digest(folder))
    assert len(seen) == len(OTHER)


def names_reached(toy):
    sources = Sources(toy)
    return {address.name for address in _code.reached(sources, [_code.root_of(sources, TABLE)])}


def test_local_names_are_no_references(toy):
    edit(toy, "tables/_common.py", "WEIGHTS = ", "draw, plain = seed, 1\n    WEIGHTS = ")
    edit(toy, "tables/_common.py", "unused = draw(seed)", "unused = 0")
    names = names_reached(toy)
    assert {"run", "double", "Model.slope", "Base._train", "Lazy"} <= names
    assert not {"draw", "even", "Model.extra", "Base.untouched", "unused"} & names


def test_a_swap_of_two_functions_is_seen(toy):
    """The names are those of before, and so are the definitions: only who calls whom is different."""
    edit(toy, "tables/_methods.py", '"plain": plain', '"plain": squared')
    edit(toy, "tables/_methods.py", '"squared"] = squared', '"squared"] = plain')
    one = digest(toy)
    edit(toy, "tables/_methods.py", '"plain": squared', '"plain": plain')
    edit(toy, "tables/_methods.py", '"squared"] = plain', '"squared"] = squared')
    assert digest(toy) != one


@pytest.mark.slow
def test_a_module_of_ones_own_counts_as_a_whole_with_what_it_imports_from_ours(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    texts = [
        "x = 1\n",
        '"""About x."""\n# one\nx  =  1\n',
        "x = 2\n",
        "x = 1\nprint()\n",
        "from sklearn.decomposition import PCA as x\n",
        "from sklearn.decomposition import FastICA as x\n",
        "class x:\n    def _hook(self): return 1\n",
        "class x:\n    def _hook(self): return 2\n",
        "from unmix.metrics import mcc as x\n",
    ]
    versions = []
    for number, text in enumerate(texts):
        (tmp_path / f"own{number}").mkdir()
        (tmp_path / f"own{number}" / "__init__.py").touch()
        (tmp_path / f"own{number}" / "method.py").write_text(text)
        versions.append(code_version("unmix.experiments.papers.ddl.table4", f"own{number}.method"))
    assert versions[0] == versions[1] and len(set(versions)) == len(texts) - 1
    assert code_version("unmix.experiments.papers.ddl.table4") not in versions


@pytest.mark.parametrize(
    "table",
    ["ddl.table4", *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)],
)
def test_all_code_that_runs_for_a_cell_counts(table):
    experiment = import_module(f"unmix.experiments.papers.{table}")
    cell = next(cell for cell in experiment.CELLS if not is_reference(cell.settings))
    ran = set()
    sys.setprofile(lambda frame, event, argument: ran.add(frame.f_code))
    try:
        experiment.run(cell, 0, "smoke")
    finally:
        sys.setprofile(None)
    ours = {
        (Path(code.co_filename), code.co_qualname.partition(".<")[0])  # what is local counts with its owner
        for code in ran
        if Path(code.co_filename).is_relative_to(_code._PACKAGE)
    }
    ours = {(path, name) for path, name in ours if not name.startswith("<")}
    # constructors are handed on as they are: what says which argument was meant computes nothing
    ours = {(path, name) for path, name in ours if path.name != "_spelling.py"}
    assert any(path.parent.name == "estimators" for path, _ in ours), "a method ran"
    sources = _code._ours()
    counted = _code.reached(sources, [_code.root_of(sources, experiment.__name__)])
    assert ours <= {(sources.module(address.module).path, address.name) for address in counted}


def test_only_the_methods_of_a_table_count():
    def modules(table):
        sources = _code._ours()
        root = _code.root_of(sources, f"unmix.experiments.papers.{table}")
        return {address.module for address in _code.reached(sources, [root])}

    domains = modules("cg.domains")
    assert {"unmix.estimators._cg_vae", "unmix.training._restarts"} <= domains
    others = {"unmix.estimators._pdgmm", "unmix.estimators._storage", "unmix.experiments.engine._task"}
    assert not others & domains
    assert "unmix.objectives._spikes_and_slabs" in modules("pdgmm.table1")


def test_every_process_has_the_same_digests_and_they_take_seconds():
    script = (
        "from unmix.experiments import EXPERIMENTS, code_version\n"
        "print(*(code_version(f'unmix.experiments.papers.{name}') for name in EXPERIMENTS))"
    )
    environment = os.environ | {"PYTHONHASHSEED": "1"}
    told = subprocess.check_output([sys.executable, "-c", script], env=environment, text=True).split()
    _code._ours.cache_clear()
    start = time.process_time()
    here = [code_version(f"unmix.experiments.papers.{name}") for name in EXPERIMENTS]
    assert time.process_time() - start < 30  # of sixty tables; 10 on a busy machine
    assert told == here and {len(each) for each in here} == {12}
