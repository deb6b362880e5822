"""An explanation as one self-contained page."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from ..._version import __version__

_MOST = 200  # latents in the table; the dictionary has them all
_STYLE = """
:root { --paper: #fbfaf8; --card: #fff; --ink: #1d2129; --quiet: #626a76; --line: #d9d7d2; --blue: #2f6fc7;
  --good: #1f7a50; --good-soft: #e5f3ec; --care: #96610b; --care-soft: #fbf0db; --stop: #b3362f;
  --stop-soft: #fbe7e5; }
@media (prefers-color-scheme: dark) { :root { --paper: #14161a; --card: #1c1f25; --ink: #e6e8ec;
  --quiet: #9aa3b0; --line: #343a44; --blue: #74a9f2; --good: #6fd3a2; --good-soft: #16291f; --care: #ebb863;
  --care-soft: #2c2415; --stop: #f28b82; --stop-soft: #331b1a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif; }
main { max-width: 58rem; margin: 0 auto; padding: 1.5rem clamp(1rem, 4vw, 2.5rem) 4rem; }
h1 { font-size: clamp(1.6rem, 5vw, 2.3rem); line-height: 1.2; margin: .1rem 0 1rem; }
h2 { font-size: 1.35rem; margin: 2.6rem 0 .6rem; } h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p, li, td, th { overflow-wrap: anywhere; } li { margin: .2rem 0; }
.brand { color: var(--blue); font-weight: 700; letter-spacing: .04em; margin: 0; }
.quiet { color: var(--quiet); font-size: .9rem; }
.short { padding: 1rem 1.4rem; border-radius: 14px; border-left: 6px solid; }
.short.good { background: var(--good-soft); border-color: var(--good); }
.short.care { background: var(--care-soft); border-color: var(--care); }
.short dt { font-weight: 650; } .short dd { margin: 0 0 .6rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; background: var(--card); }
th, td { border: 1px solid var(--line); padding: .3rem .7rem; text-align: left; vertical-align: top; }
ul.plain { list-style: none; padding: 0; }
.pill { font-size: .78rem; font-weight: 600; padding: .1rem .55rem; border-radius: 1rem; }
.pill.good { color: var(--good); background: var(--good-soft); }
.pill.care { color: var(--care); background: var(--care-soft); }
.pill.stop { color: var(--stop); background: var(--stop-soft); }
summary { cursor: pointer; color: var(--blue); }
"""
_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="generator" content="unmix {version}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<p class="brand">unmix</p>
<h1>{title}</h1>
"""


def page(explanation: Any, titles: Mapping[str, str], title: str) -> str:
    """Return the page: the answer, each latent, each condition, what to believe, what would give more."""
    head = _HEAD.format(version=escape(__version__), title=escape(title), style=_STYLE)
    sections = (
        _short(explanation, titles),
        _latents(explanation.latents, titles),
        _conditions(explanation, titles),
        _assumed(explanation.assumed, titles),
        _listed("What would have to hold for more", explanation.missing),
        _details(explanation, titles),
    )
    foot = f"<p class=quiet>Written by unmix {escape(__version__)}.</p>\n</main>\n</body>\n</html>\n"
    return f"{head}{''.join(sections)}{foot}"


def _short(explanation: Any, titles: Mapping[str, str]) -> str:
    rows = "".join(
        f"<dt>{escape(titles[name])}</dt><dd>{escape(sentence)}</dd>\n"
        for name, sentence in explanation.conclusions.items()
    )
    return f'<dl class="short {"good" if explanation else "care"}">\n{rows}</dl>\n'


def _latents(latents: tuple[dict[str, Any], ...], titles: Mapping[str, str]) -> str:
    if not latents:
        return ""
    names = list(dict.fromkeys(name for row in latents for name in row if name != "latent"))
    head = "".join(f"<th>{escape(titles[name])}</th>" for name in names)
    rows = "".join(
        f"<tr><th>z{row['latent']}</th>{''.join(f'<td>{_cell(row.get(name))}</td>' for name in names)}</tr>\n"
        for row in latents[:_MOST]
    )
    more = f"<p class=quiet>{len(latents) - _MOST} more latents.</p>\n" if len(latents) > _MOST else ""
    table = f'<div class="wide"><table>\n<tr><th>Latent</th>{head}</tr>\n{rows}</table></div>\n'
    return f"<h2>Latent by latent</h2>\n{table}{more}"


def _cell(value: Any) -> str:
    return f"{value:.0%}" if isinstance(value, float) else escape(str("" if value is None else value))


def _conditions(explanation: Any, titles: Mapping[str, str]) -> str:
    parts = "".join(
        f"<h3>{escape(titles[name])}</h3>\n<ul class=plain>\n{''.join(map(_condition, found))}</ul>\n"
        for name, found in explanation.conditions.items()
    )
    return f"<h2>Theorems and conditions</h2>\n{parts}"


def _condition(certificate: Any) -> str:
    reasons = f": {'; '.join(certificate.reasons)}" if certificate.reasons else ""
    return f"<li>{_pill(certificate.holds)} {escape(certificate.theorem + reasons)}.</li>\n"


def _pill(holds: bool) -> str:
    return f'<span class="pill {"good" if holds else "stop"}">{"holds" if holds else "fails"}</span>'


def _assumed(assumed: Mapping[str, Iterable[str]], titles: Mapping[str, str]) -> str:
    if not assumed:
        return ""
    rows = "".join(
        f'<li><span class="pill care">assumed</span> {escape(word)} '
        f"<span class=quiet>({escape(', '.join(titles[name] for name in names))})</span></li>\n"
        for word, names in assumed.items()
    )
    return f"<h2>Assumed, not checked</h2>\n<ul class=plain>\n{rows}</ul>\n"


def _listed(heading: str, lines: Iterable[str]) -> str:
    rows = "".join(f"<li>{escape(line)}</li>\n" for line in lines)
    return f"<h2>{escape(heading)}</h2>\n<ul>\n{rows}</ul>\n" if rows else ""


def _details(explanation: Any, titles: Mapping[str, str]) -> str:
    def block(name: str) -> str:
        rows = "".join(f"<li>{escape(line)}</li>\n" for line in explanation.lines(name))
        return f"<details><summary>{escape(titles[name])}</summary>\n<ul>\n{rows}</ul></details>\n"

    return f"<h2>The reasoning in full</h2>\n{''.join(map(block, explanation.parts))}"
