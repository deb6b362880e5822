"""The page of results: complete, escaped, offline."""

import json
import re
from html.parser import HTMLParser

import pytest

from unmix.experiments import Store
from unmix.report import results


def record(experiment, seed, value, *, row="ours", error=None, **changes):
    cell = {"row": row, "column": "n = 3", "value": "mcc", "better": "higher", "precision": 0.005}
    made = {
        "key": f"{experiment}-{row}-{seed}".replace(" ", "-"),
        "experiment": experiment,
        "settings": {"method": row},
        "cells": [cell | {"paper": 0.8, "spread": 0.01, "source": "Table <1>", "place": 0}],
        "seed": seed,
        "budget": "laptop",
        "code": "0.1.0+abc",
        "values": {} if error else {"mcc": value},
        "error": error,
        "seconds": 1.0,
        "title": "Some <table> & more",
        "command": f"unmix reproduce {experiment} --seeds 2",
    }
    return made | changes


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "results")
    for seed, value in enumerate((0.9, 0.92)):
        made.write(record("some.table1", seed, value))
        made.write(record("some.figure2", seed, value - 0.3))
    broken = {"type": "ValueError", "message": "<script>alert(1)</script>", "where": []}
    made.write(record("some.table1", 0, None, row="raw x", error=broken))
    return made


class Page(HTMLParser):
    """Rows of tables as texts, and every reference to something outside."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.outside, self.stack = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.stack.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        self.outside += [v for k, v in attributes if k in ("src", "href") and not (v or "").startswith("#")]

    def handle_data(self, data):
        if self.rows and self.rows[-1] and self.stack[-1] in ("td", "th", "span", "small", "button"):
            self.rows[-1][-1] += data.strip()

    def handle_endtag(self, tag):
        while self.stack and self.stack.pop() != tag:
            pass


@pytest.fixture
def page(store, tmp_path):
    return results(tmp_path / "page.html", store.folder).read_text(encoding="utf-8")


def test_each_line_shows_paper_ours_difference_and_verdict(page):
    rows = Page(page).rows
    line = next(row for row in rows if row and row[0] == "ours" and row[4].startswith("0.910"))
    assert line[1:8] == ["n = 3", "MCC", "0.800 ± 0.010", "0.910 ± 0.014", "2", "+0.110", "better"]


def test_failures_are_visible_and_text_is_escaped(page):
    failed = next(row for row in Page(page).rows if row and row[7:8] == ["failed"])
    assert "seed 0: ValueError: <script>alert(1)</script>" in failed[0]
    assert "<script>alert" not in page and "Some &lt;table&gt; &amp; more" in page


def test_reasons_stand_beside_their_numbers(store, tmp_path):
    said = [{"says": "Two seeds of <five> fail.", "experiment": "some.figure2"}]
    (store.folder / "reasons.json").write_text(json.dumps(said))
    page = results(tmp_path / "page.html", store.folder).read_text(encoding="utf-8")
    assert page.count("Two seeds of &lt;five&gt; fail.") == 1 and "<five>" not in page
    line = next(row for row in Page(page).rows if row and "Two seeds" in row[0])
    assert line[4].startswith("0.610"), "that of figure 2"


def test_the_page_needs_nothing_from_outside_and_runs_no_other_script(page):
    assert Page(page).outside == [] and "http" not in re.sub(r"http-equiv|http://www.w3.org/\S+", "", page)
    assert page.count("<script") == 2 and page.count("'sha256-") == 2


def test_figures_are_drawn_and_commands_shown(page):
    assert page.count("<svg") == 1
    assert "<code>unmix reproduce some.table1 --seeds 2</code>" in page


def test_files_that_cannot_be_trusted_are_named(store, tmp_path):
    (store.folder / "some.table1" / "half.json").write_text('{"key": ')
    page = results(tmp_path / "page.html", store.folder).read_text(encoding="utf-8")
    assert "some.table1/half.json: it can&#39;t be read" in page


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="`folder` must hold results"):
        results(tmp_path / "page.html", tmp_path)


PAYLOAD = '"><meta http-equiv=refresh content=0><form action=x>.figure'


class Tags(HTMLParser):
    """The tags of a page."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, tuple(sorted(name for name, _ in attributes))))


def test_a_payload_in_every_string_of_a_foreign_folder_stays_text(tmp_path):
    def page(text, folder):
        made, changed = Store(tmp_path / folder), {"data": text, "title": text, "command": text, "code": text}
        for seed in (0, 1):
            for row in (text, text + "2"):
                foreign = record("some.figure2", seed, 0.5, row=row, **changed) | {"budget": "laptop"}
                cells = [cell | {"column": text, "source": text} for cell in foreign["cells"]]
                made.write(
                    foreign
                    | {
                        "experiment": f"{text}.figure2"[-60:].replace("/", ""),
                        "cells": cells,
                        "key": f"{seed}{len(row)}",
                    }
                )
        return results(tmp_path / f"{folder}.html", made.folder).read_text(encoding="utf-8")

    plain, hostile = (Tags(page(text, name)).found for text, name in (("a.figure", "one"), (PAYLOAD, "two")))
    assert hostile == plain and not {"form"} & {tag for tag, _ in hostile}
