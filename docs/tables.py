"""Fill the tables of the documents from what results/ holds: python docs/tables.py.

A document says where a table goes by two lines, `<!-- table ddl.recovery -->` and `<!-- /table -->`. What is
between them is written here, from the largest budget that is stored, or from that which `ddl.table1@laptop`
names, and nothing else is touched.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from unmix.experiments import RAW, ROTATION, Line, Store, Table, summarise
from unmix.experiments.papers.cg import _common as cg
from unmix.experiments.papers.cg.promised import EXACT as EXACT_GRAPH
from unmix.experiments.papers.cg.promised import PROMISED
from unmix.experiments.papers.ddl import _common as ddl
from unmix.experiments.papers.ddl.recovery import EXACT
from unmix.experiments.papers.mechanistic import _common as slots
from unmix.experiments.papers.nearid import table2
from unmix.experiments.papers.pdgmm import _balls, d5_bounds, d9, d10, d11, second_stage
from unmix.experiments.papers.pdgmm import _common as pdgmm
from unmix.experiments.papers.tables import number
from unmix.experiments.papers.trust import dictionaries, judgement, nulls, planted, surrogate
from unmix.experiments.papers.worlds import _common as worlds
from unmix.experiments.papers.worlds import domains as domain_worlds
from unmix.experiments.papers.worlds import mixtures as mixture_worlds
from unmix.experiments.papers.worlds import slots as slot_worlds
from unmix.plots import reliability

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"(<!-- table (\S+) -->\n).*?(<!-- /table -->)", flags=re.DOTALL)
DIAGRAM = ROOT / "docs" / "img" / "reliability.svg"
EFFORTS = ("quick", "full")
ADDED = ("all", "null")  # lines that add up the kinds
TRUST: dict[str, tuple[str, ...]] = {
    judgement.EXPERIMENT: tuple(sorted({family.kind for family in judgement.FAMILIES.values()})),
    planted.EXPERIMENT: (planted.KIND,),
}
Entry = tuple[str, str]  # row and value of a cell
View = dict[str, Entry]  # by the head of a column


def beside(value: str) -> View:
    """Return the columns of what learned nothing."""
    return {"raw x": (RAW, value), "rotation floor": (ROTATION, value)}


SLOTS: View = {
    "search and counting": (slots.SEARCH, slots.SIS),
    **{name: (name, slots.SIS) for name in slots.CONTRASTS},
    "true latents": (slots.TRUTH, slots.SIS),
    **beside(slots.SIS),
}
ABLATION = (slots.AFTER, slots.COUNTING, slots.NOTHING, slots.PATIENT)
DOMAINS: View = {
    "CG-VAE": (cg.BOTH, cg.WITHIN),
    "over all domains": (cg.BOTH, cg.POOLED),
    "without sparsity": (cg.CHANGES, cg.WITHIN),
    "sparsity alone": (cg.SPARSITY, cg.WITHIN),
    "iVAE": (cg.IDENTIFIABLE, cg.WITHIN),
    **beside(cg.WITHIN),
}
MIXTURES: View = {
    "both stages": (pdgmm.BOTH, "mcc"),
    "paper": (pdgmm.BOTH, "mcc"),
    "sparse basis of raw x": (pdgmm.SECOND, "mcc"),
    **beside("mcc"),
}
OBJECTIVES: View = {  # lower from the truth: the search fails; else the objective
    "objective": (worlds.DEFAULT, worlds.OBJECTIVE),
    "objective from the truth": (worlds.KEPT, worlds.OBJECTIVE),
}
VIEWS: dict[str, View] = {
    "ddl.recovery": {"MCC": (ddl.DEFAULT, "mcc"), "exact structures": (ddl.DEFAULT, EXACT), **beside("mcc")},
    "ddl.figure5": {
        "MCC": (ddl.DEFAULT, "mcc"),
        "L1, as published": (ddl.PUBLISHED, "mcc"),
        "L1, codes may correlate": (ddl.FREE, "mcc"),
        "L1, codes begin at x": (ddl.BEGUN, "mcc"),
        "paper": (ddl.DEFAULT, "mcc"),
        **beside("mcc"),
    },
    "cg.domains": DOMAINS,
    "cg.square": DOMAINS,
    "cg.promised": {
        "MCC within domains": (cg.BOTH, cg.WITHIN),
        "promised latents found": (cg.BOTH, PROMISED),
        "exact graphs": (cg.BOTH, EXACT_GRAPH),
        **beside(cg.WITHIN),
    },
    "pdgmm.table1": {
        **MIXTURES,
        "before the rotation": (f"{pdgmm.BOTH}, before the rotation", "mcc of unrotated"),
        "R²": (pdgmm.BOTH, "r2"),
        "R² of raw x": (RAW, "r2"),
    },
    "pdgmm.hard": {
        **MIXTURES,
        "started at the truth": (worlds.KEPT, "mcc"),
        "R²": (pdgmm.BOTH, "r2"),
        "R² of raw x": (RAW, "r2"),
        "objective": (pdgmm.BOTH, worlds.OBJECTIVE),
        "objective from the truth": (worlds.KEPT, worlds.OBJECTIVE),
    },
    "pdgmm.d4": {"sparse basis of raw x, s": (pdgmm.SECOND, "seconds"), "paper": (pdgmm.SECOND, "seconds")},
    "pdgmm.d4_published": {
        "MCC": (d5_bounds.PUBLISHED, "mcc"),
        "seconds": (d5_bounds.PUBLISHED, "seconds"),
        "sparse basis of raw x": (pdgmm.SECOND, "mcc"),
        **beside("mcc"),
    },
    "pdgmm.d5_bounds": {
        "published solver": (d5_bounds.PUBLISHED, "mcc"),
        "paper": (d5_bounds.PUBLISHED, "mcc"),
    },
    "pdgmm.d9": {
        "both stages": (pdgmm.BOTH, "shd"),
        "paper": (pdgmm.BOTH, "shd"),
        "true latents": (d9.TRUTH, "shd of truth"),
        "sparse basis of raw x": (pdgmm.SECOND, "shd"),
        **beside("shd"),
    },
    "pdgmm.d10": {
        "points, both stages": (_balls.POINTS, d10.MEAN),
        "paper": (_balls.POINTS, d10.MEAN),
        "worst ball": (_balls.POINTS, d10.WORST),
        "first stage alone": (_balls.POINTS, d10.FIRST),
        "R² of positions": (_balls.POINTS, d10.ALL),
        "convolutions, both stages": (_balls.PUBLISHED, d10.MEAN),
        "points, not trained": (_balls.UNTRAINED, d10.MEAN),
        "sparse basis of pixel PCA": (pdgmm.SECOND, d10.MEAN),
        "pixel PCA": (RAW, d10.MEAN),
        "rotation floor": (ROTATION, d10.MEAN),
    },
    "pdgmm.d11": {
        "points, both stages": (_balls.POINTS, d11.OWN),
        "paper": (_balls.POINTS, d11.OWN),
        "largest of another": (_balls.POINTS, d11.OTHER),
        "first stage alone": (_balls.POINTS, d11.FIRST),
        "convolutions, both stages": (_balls.PUBLISHED, d11.OWN),
        "points, not trained": (_balls.UNTRAINED, d11.OWN),
        "sparse basis of pixel PCA": (pdgmm.SECOND, d11.OWN),
        "pixel PCA": (RAW, d11.OWN),
        "rotation floor": (ROTATION, d11.OWN),
    },
    "pdgmm.second_stage": {
        "MCC": (pdgmm.SECOND, "mcc"),
        "ceiling": (second_stage.CEILING, "mcc"),
        "rows found": (pdgmm.SECOND, second_stage.ROWS_FOUND),
        "activity right": (pdgmm.SECOND, second_stage.ACTIVITY),
        **beside("mcc"),
    },
    "mechanistic.overlap": SLOTS,
    "mechanistic.kinds": SLOTS,
    "mechanistic.patience": SLOTS,
    "mechanistic.ablation": {
        "search and counting": (slots.SEARCH, slots.SIS),
        **{name: (name, slots.SIS) for name in ABLATION},
        **beside(slots.SIS),
    },
    "scale.ddl": {
        "MCC": (ddl.DEFAULT, "mcc"),
        "seconds": (ddl.DEFAULT, "seconds"),
        "L1, as published": (ddl.PUBLISHED, "mcc"),
        **beside("mcc"),
    },
    "scale.cg": {
        "MCC within domains": (cg.BOTH, cg.WITHIN),
        "seconds": (cg.BOTH, "seconds"),
        "iVAE": (cg.IDENTIFIABLE, cg.WITHIN),
        **beside(cg.WITHIN),
    },
    "scale.pdgmm": {"MCC": (pdgmm.BOTH, "mcc"), "seconds": (pdgmm.BOTH, "seconds"), **beside("mcc")},
    "scale.mechanistic": SLOTS | {"seconds": (slots.SEARCH, "seconds")},
    "worlds.sparse": {
        "MCC": (worlds.DEFAULT, "mcc"),
        "defaults of 0.1": (worlds.BEFORE, "mcc"),
        "thorough": (worlds.THOROUGH, "mcc"),
        "started at the truth": (worlds.KEPT, "mcc"),
        "told the truth": (worlds.KEPT, worlds.TOLD),
        **beside("mcc"),
        **OBJECTIVES,
    },
    "worlds.domains": {
        "MCC within domains": (worlds.DEFAULT, "mcc"),
        "defaults of 0.1": (worlds.BEFORE, "mcc"),
        "correlated prior": (domain_worlds.CORRELATED, "mcc"),
        "iVAE": (domain_worlds.IDENTIFIABLE, "mcc"),
        "started at the truth": (worlds.KEPT, "mcc"),
        "told the truth": (worlds.TOLD, "mcc"),
        **beside("mcc"),
        **OBJECTIVES,
    },
    "worlds.slots": {
        "SIS": (worlds.DEFAULT, slots.SIS),
        "defaults of 0.1": (worlds.BEFORE, slots.SIS),
        "slots not told": (slot_worlds.UNTOLD, slots.SIS),
        "not told, defaults of 0.1": (slot_worlds.UNTOLD_BEFORE, slots.SIS),
        "started at the truth": (worlds.KEPT, slots.SIS),
        "true latents": (slots.TRUTH, slots.SIS),
        **beside(slots.SIS),
        **OBJECTIVES,
    },
    "worlds.mixtures": {
        "MCC": (worlds.DEFAULT, "mcc"),
        "started at the truth": (worlds.KEPT, "mcc"),
        "told the truth": (worlds.TOLD, "mcc"),
        "runs that say that latents do not rest": (worlds.DEFAULT, mixture_worlds.SAID),
        **beside("mcc"),
        **OBJECTIVES,
    },
}
NUMBER, NULLS, SURROGATE = "tables.number", "trust.nulls", "trust.surrogate"
ENDLESS, RIGHT = ("nothing shared", "no end"), 0.9  # tables that have no number; the share asked for
RULES = (number.SEARCH, number.GAP, number.KAISER, number.PARALLEL, number.GUESS)
GOALS, ASKED = "trust.goals", {"precision": {"quick": 0.97, "full": 0.98}, "recall": {"full": 0.85}}
KEPT = {  # families in which the assumptions of an estimator hold
    "PDGMM": ("mixture.masked", "mixture.resting"),
    "diverse dictionary": tuple(
        f"sparse: {kind}" for kind in ("waves and products", "networks", "linear", "bent sums", "noise")
    ),
}

# tables on images: the scores that stand in one entry, and the paper's mean over its own sets
PICTURES: dict[str, tuple[str, ...]] = {
    "nearid.table2": ("InfoM", "InfoE", "InfoC"),
    "nearid.images": ("permutation", "rigid", "linear", "ica", "efficiency", "MCC between runs"),
    "ddl.table1": ("FactorVAE score", "DCI, boosting"),
    "ddl.table7": ("FactorVAE score", "DCI, boosting"),
    "ddl.table8": ("FactorVAE score", "DCI, boosting"),
    "ddl.encdiff": ("FactorVAE score", "DCI, boosting"),
    "ddl.disco": ("FactorVAE score", "DCI, boosting"),
    "ddl.through": ("FactorVAE score", "DCI, boosting"),
    "cg.gan": ("Frechet distance", "kernel distance", "content distance", "share specific"),
}
MEANS = {"nearid.table2": table2.PAPER_MEAN}


def filled(text: str, tables: Iterable[Table], units: Mapping[str, judgement.Units] | None = None) -> str:
    """Return a document with its tables written again; that of trust where its runs are given."""
    known = _joined(table for table in tables if table.budget != "smoke")[::-1]
    stored = {table.experiment: table for table in known}
    stored |= {f"{table.experiment}@{table.budget}": table for table in known}

    def written(name: str) -> str:
        if name == GOALS:
            return goals_block(_kinds(units, judgement.EXPERIMENT))
        if name in TRUST:
            return trust_block(_kinds(units, name), name)
        if name == NULLS and name in stored:
            return nulls_block(stored[name], _kinds(units, judgement.EXPERIMENT))
        return COUNTED.get(name, partial(block, name.partition("@")[0]))(stored.get(name))

    return BLOCK.sub(lambda found: found[1] + written(found[2]) + found[3], text)


def _joined(tables: Iterable[Table]) -> list[Table]:
    """Join tables of one budget whose runs had other data, as far as their columns differ."""
    found: dict[tuple[str, str], Table] = {}
    for table in tables:
        first = found.setdefault((table.experiment, table.budget), table)
        there = {line.column for line in first.lines}
        more = tuple(line for line in table.lines if line.column not in there)
        found[table.experiment, table.budget] = replace(first, lines=first.lines + more)
    return list(found.values())


def _kinds(units: Mapping[str, judgement.Units] | None, name: str) -> dict[str, judgement.Units]:
    """Return the units of the kinds that a table of trust is about."""
    return {kind: each for kind, each in (units or {}).items() if kind in TRUST[name]}


def block(name: str, table: Table | None) -> str:
    """Write one table: a line for each setting, and a column for each entry of its view."""
    if table is None:
        return f"`unmix reproduce {name}`: not run yet.\n"
    if name in PICTURES:
        return picture_block(name, table)
    lines = {(line.row, line.value, line.column): line for line in table.lines}
    view, settings = VIEWS[name], dict.fromkeys(line.column for line in table.lines)
    grid = [[at, *(_entry(head, lines.get((*view[head], at))) for head in view)] for at in settings]
    counted = sorted({line.n for line in table.lines if line.n})
    seeds = " to ".join(map(str, dict.fromkeys((counted[0], counted[-1]))))
    means = "one seed" if counted == [1] else f"mean ± standard deviation of {seeds} seeds"
    rows = [["", *view], ["---"] * (len(view) + 1), *(row for row in grid if row[1])]
    return "\n".join(
        [
            f"`unmix reproduce {name} --budget {table.budget}`, {means}:",
            "",
            *(f"| {' | '.join(row)} |" for row in rows),
            "",
        ]
    )


def number_block(table: Table | None) -> str:
    """Write how often the number of latents was found: a line for each family, and all of them together."""
    if table is None:
        return f"`unmix reproduce {NUMBER}`: not run yet.\n"
    lines = {(line.column, line.value): line for line in table.lines if line.n}
    families = list(dict.fromkeys(family for family, _ in lines))
    counts = np.array([[_count(lines.get((family, rule))) for rule in RULES] for family in families])
    rows = [["", *RULES], ["---"] * (len(RULES) + 1)]
    rows += [[family, *map(_of, *each.T)] for family, each in zip(families, counts, strict=True)]
    ended = [family not in ENDLESS for family in families]
    for words, some in (("all with a number", counts[ended]), ("all families", counts)):
        rows.append([f"**{words}**", *(f"{_of(*each)}, {_likely(*each)}" for each in some.sum(0))])
    count, n = counts.sum(0)[0]
    verdict = "met" if count >= RIGHT * n else "**missed**"
    return "\n".join(
        [
            f"`unmix reproduce {NUMBER} --budget {table.budget}`: tables of which the number is exactly "
            f"right, and Wilson's 95% interval for all of them. Asked for were {RIGHT:.0%} over all "
            f"families: {verdict}.",
            "",
            *(f"| {' | '.join(row)} |" for row in rows),
            "",
        ]
    )


def nulls_block(table: Table, units: Mapping[str, judgement.Units]) -> str:
    """Write in how many null worlds nothing is trusted, by estimator: new ones, those left out, and both."""
    lines = {(line.column, line.value): line for line in table.lines if line.n}
    left_out = {each.name: each for each in judgement.lines(units, nulls.EFFORT)} if units else {}
    heads = ("", "new worlds", "largest probability, mean", "families left out of the calibration", "both")
    rows = [[*heads, "95% interval"], ["---"] * (len(heads) + 1)]
    for name in (name for name in nulls.WORLDS if (name, nulls.CLEAN) in lines):
        new = _count(lines[name, nulls.CLEAN])
        before = np.sum([(0, 0), *_left_out(name, left_out)], axis=0)
        both = np.add(new, before)
        largest = f"{lines[name, nulls.LARGEST].ours:.3f}"
        rows.append([name, _of(*new), largest, _of(*before) if before[1] else "", _of(*both), _likely(*both)])
    return "\n".join(
        [
            f"`unmix reproduce {NULLS} --budget {table.budget}`: data sets without a trusted latent, at "
            f"effort {nulls.EFFORT}. Families left out are judged by chains that have not seen them:",
            "",
            *(f"| {' | '.join(row)} |" for row in rows),
            "",
        ]
    )


def _left_out(name: str, judged: Mapping[str, judgement.Line]) -> list[tuple[int, int]]:
    """Return counts of the families that the calibration has of an estimator: the same worlds and models."""
    own = [each for each in nulls.WORLDS[name] if each.model is judgement.FAMILIES[each.name].model]
    return [(int(judged[each.name].clean), int(judged[each.name].n_worlds)) for each in own if judged]


def surrogate_block(table: Table | None) -> str:
    """Write what links score on data, on nulls and on Gaussian data of the same covariance."""
    if table is None:
        return f"`unmix reproduce {SURROGATE}`: not run yet.\n"
    lines = {(line.column, line.row): line for line in table.lines if line.n}
    rows = [["", *surrogate.KINDS], ["---"] * (len(surrogate.KINDS) + 1)]
    for place in dict.fromkeys(column for column, _ in lines):
        entries = [lines.get((place, kind)) for kind in surrogate.KINDS]
        rows.append([place, *("" if each is None else _figure(each.ours) for each in entries)])
    seeds = " to ".join(map(str, sorted({line.n for line in table.lines if line.n})))
    return "\n".join(
        [
            f"`unmix reproduce {SURROGATE} --budget {table.budget}`, means over latents and {seeds} seeds:",
            "",
            *(f"| {' | '.join(row)} |" for row in rows),
            "",
        ]
    )


COUNTED = {NUMBER: number_block, SURROGATE: surrogate_block}


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _count(line: Line | None) -> tuple[int, int]:
    """Return in how many runs something was so, and how many there are."""
    return (0, 0) if line is None or line.ours is None else (round(line.ours * line.n), line.n)


def _of(count: int, n: int) -> str:
    return f"{count} of {n}"


def _likely(count: int, n: int) -> str:
    low, high = judgement.wilson(np.arange(n) < count)
    return f"{count / n:.0%} ({low:.0%} to {high:.0%})"


def picture_block(name: str, table: Table) -> str:
    """Write a table on images: a line for each method, a column for each twin, and their mean."""
    scores, columns = PICTURES[name], list(dict.fromkeys(line.column for line in table.lines))
    lines = {(line.row, line.column, line.value.partition(" of ")[0]): line for line in table.lines}
    mean = len(columns) > 2
    rows = [["", *columns, *(["mean"] * mean)], ["---"] * (len(columns) + 1 + mean)]
    for row in dict.fromkeys(line.row for line in table.lines):
        at = [[lines.get((row, column, score)) for score in scores] for column in columns]
        if any(line is not None and line.ours is not None for entry in at for line in entry):
            means = [_means(at, MEANS.get(name, {}).get(row))] * mean
            rows.append([row, *map(_several, at), *means])
    return "\n".join(
        [
            f"`unmix reproduce {name} --budget {table.budget}`, {', '.join(scores)}; mean of seeds, whose "
            "number is given where it is not three. Behind a stroke the paper's, on another set of images:",
            "",
            *(f"| {' | '.join(row)} |" for row in rows),
            "",
        ]
    )


def _several(entry: list[Line | None]) -> str:
    """Write several scores of one method on one twin, the paper's behind a stroke; a dash has no number."""
    ours = [None if line is None else line.ours for line in entry]
    paper = [None if line is None else line.paper for line in entry]
    first = next((line for line in entry if line is not None and line.ours is not None), None)
    few = "" if first is None or first.n == 3 else f" ({first.n})"
    return _beside(ours, paper) + few


def _means(entries: list[list[Line | None]], paper: Iterable[float] | None) -> str:
    """Write the mean over twins, where all have a number."""
    ours = [[None if line is None else line.ours for line in entry] for entry in entries]
    whole = all(value is not None for entry in ours for value in entry)
    means = [sum(values) / len(values) for values in zip(*ours, strict=True)] if whole else []
    return _beside(means, list(paper or [None]))


def _beside(ours: list[float | None], paper: list[float | None]) -> str:
    known = "" if None in paper else " \\| " + " ".join(map(_short, paper))
    there = any(value is not None for value in ours)
    return (" ".join(map(_short, ours)) if there else "-" if known else "") + known


def _short(value: float | None) -> str:
    return "-" if value is None else re.sub(r"^(-?)0\.", r"\1.", f"{value:.2f}")


def trust_units(folder: Path) -> dict[str, judgement.Units]:
    """Read the units of every kind of argument, those of dictionaries from a table of their own."""
    features = judgement.read(judgement.records_of(folder, planted.EXPERIMENT), dictionaries.FAMILIES)
    return judgement.read(judgement.records_of(folder)) | features


def trust_block(units: Mapping[str, judgement.Units], experiment: str = judgement.EXPERIMENT) -> str:
    """Write the calibration: every family judged by chains that have not seen it."""
    if not units:
        return f"`unmix reproduce {experiment}`: not run yet.\n"
    families = {**dictionaries.FAMILIES, **judgement.FAMILIES}
    judged = {effort: judgement.lines(units, effort, families=families) for effort in EFFORTS}
    if len(units) == 1:  # no kinds to add up
        judged = {effort: found[: -len(ADDED)] for effort, found in judged.items()}
    heads = ["family left out", "data sets", "latents", "right"]
    heads += [
        f"{word}, {effort}" for effort in EFFORTS for word in ("trusted", "right of these", "recall", "clean")
    ]
    rows = [heads, ["---"] * len(heads), *map(_judged, *judged.values())]
    first = f"`unmix reproduce {experiment}`, each family judged by chains that have not seen it." + (
        " The last two lines are no data sets of their own: they add up the kinds as if each had a hundred."
    ) * (len(units) > 1)
    return "\n".join([first, "", *(f"| {' | '.join(row)} |" for row in rows), ""])


def goals_block(units: Mapping[str, judgement.Units]) -> str:
    """Write what was asked for beside what was reached, by chains that have not seen the families."""
    if not units:
        return f"`unmix reproduce {judgement.EXPERIMENT}`: not run yet.\n"
    judged = {effort: {each.name: each for each in judgement.lines(units, effort)} for effort in EFFORTS}
    rows = [["Asked for", "goal", "reached", ""], ["---"] * 4]
    for word, goals in ASKED.items():
        for effort, goal in goals.items():
            reached = getattr(judged[effort]["every kind alike, all"], word)
            rows.append(_goal(f"{word}, every kind alike, effort {effort}", goal, reached))
    new = {effort: {each.name: each for each in judgement.fresh(units, effort)} for effort in EFFORTS}
    for word, goals in ASKED.items() if new["full"] else ():
        for effort, goal in goals.items():
            reached = getattr(new[effort]["every kind alike, all"], word)
            words = f"{word}, effort {effort}, fresh data sets of the kinds that have a hundred"
            rows.append(_goal(words, goal, reached))
    for name, families in KEPT.items():
        right, both = (sum(getattr(judged["full"][each], n) for each in families) for n in ("right", "both"))
        rows.append(_goal(f"recall of {name} where its assumptions hold", 0.90, both / right))
    for name, each in judged["full"].items():
        if name.endswith(", null"):
            words = f"data sets without a trusted latent, {name.removesuffix(', null')}, null families"
            rows.append(_goal(words, 0.95, each.clean / each.n_worlds))
    return "\n".join([*(f"| {' | '.join(row)} |" for row in rows), ""])


def _goal(words: str, goal: float, reached: float) -> list[str]:
    return [words, f"{goal:.2f}", f"{reached:.3f}", "met" if reached >= goal else "**missed**"]


def _judged(*efforts: judgement.Line) -> list[str]:
    """Write one family: its size, then for each effort what was trusted and how often that was right."""
    one = efforts[0]
    known = [one.name, str(one.n_worlds), str(one.n_units), str(one.right)]
    return known + [text for line in efforts for text in _verdicts(line)]


def _verdicts(line: judgement.Line) -> tuple[str, str, str, str]:
    precision = f"{line.both} ({line.precision:.0%})" if line.trusted else ""
    recall = f"{line.recall:.0%}" if line.right else ""
    return str(line.trusted), precision, recall, f"{line.clean} of {line.n_worlds}"


def draw(units: Mapping[str, judgement.Units]) -> None:
    """Draw the reliability diagram, the same bytes for the same results."""
    bins = {effort: judgement.reliability(units, effort) for effort in EFFORTS}
    with plt.rc_context({"svg.hashsalt": "unmix", "svg.fonttype": "path"}):
        ax = reliability(bins, threshold=judgement.THRESHOLD)
        ax.figure.set_size_inches(6, 4.2)
        ax.figure.savefig(DIAGRAM, metadata={"Date": None}, transparent=True)


def _entry(head: str, line: Line | None) -> str:
    if line is None or line.ours is None:
        return ""
    if head == "paper":
        return "" if line.paper is None else f"{line.paper:,g}"
    if line.value.startswith("share"):
        return f"{line.ours:.0%}"
    digits = 1 if line.value.startswith(("seconds", "shd")) else 3
    spread = (
        "" if line.our_spread is None or line.row in (RAW, ROTATION) else f" ± {line.our_spread:.{digits}f}"
    )
    return f"{line.ours:.{digits}f}{spread}"


if __name__ == "__main__":
    tables = summarise(Store(ROOT / "results").records())
    units = trust_units(ROOT / "results")
    for path in DOCUMENTS:
        path.write_text(filled(path.read_text(encoding="utf-8"), tables, units), encoding="utf-8")
    latents = {kind: each for kind, each in units.items() if kind != planted.KIND}
    if latents:
        draw(latents)
