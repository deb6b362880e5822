"""Make pages that are not written by hand: a hook of MkDocs, named in mkdocs.yml.

Tutorials are notebooks, which become pages with what their cells printed. A page of the API lists its names
by `::: unmix.room.name`; each of them becomes a page of its own, and the list a table of them.
"""

import base64
import json
import logging
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

NAMED = re.compile(r"^::: (unmix(?:\.\w+)+)\n((?:    .*\n)*)\n?", flags=re.MULTILINE)
NOTEBOOK = re.compile(r"(\]\((?:[./\w]*/)?\d\d_\w+)\.ipynb\)")
ROOM = re.compile(r"api/\w+\.md")


def on_config(config: MkDocsConfig) -> None:
    """Do not let one warning fail the build: names of estimators are listed in one place, by a dictionary."""
    expected = "Unsupported item in unmix.estimators.__all__"
    logger = logging.getLogger("mkdocs.plugins.griffe")
    logger.addFilter(lambda record: expected not in record.getMessage())


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of tutorials and of names."""
    docs = Path(config.docs_dir)
    for notebook in sorted((docs / "tutorials").glob("*.ipynb")):
        for name, content in tutorial(notebook.stem, json.loads(notebook.read_text(encoding="utf-8"))):
            files.append(File.generated(config, f"tutorials/{name}", content=content))
    for page in sorted((docs / "api").glob("*.md")):
        for name, content in named_pages(page.stem, page.read_text(encoding="utf-8")):
            files.append(File.generated(config, f"api/{page.stem}/{name}.md", content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Replace the names of a room by a table, and links to notebooks by links to their pages."""
    if ROOM.fullmatch(page.file.src_uri):
        markdown = listed(Path(page.file.src_uri).stem, markdown)
    return NOTEBOOK.sub(r"\1.md)", markdown)


def tutorial(stem: str, notebook: Mapping[str, Any]) -> Iterator[tuple[str, str | bytes]]:
    """Yield the page of a notebook, and its pictures."""
    link = f'<p class="notebook"><a href="{stem}.ipynb" download>Notebook</a></p>'
    parts: list[str] = []
    for at, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else _code(source))
        for k, output in enumerate(cell.get("outputs", ())):
            picture = output.get("data", {}).get("image/png")
            if picture:
                yield f"{stem}-{at}-{k}.png", base64.b64decode(picture)
                parts.append(f"![What the cell above draws]({stem}-{at}-{k}.png)")
            else:
                parts.append(_printed(output))
    title, _, rest = parts[0].partition("\n")
    yield f"{stem}.md", "\n\n".join([title, link, rest, *parts[1:]])


def _code(source: str) -> str:
    return f"```{'bash' if source.startswith('!') else 'python'}\n{re.sub('^!', '', source, flags=re.M)}\n```"


def _printed(output: Mapping[str, Any]) -> str:
    text = "".join(output["text"] if "text" in output else output["data"]["text/plain"])
    return f"``` {{ .text .output }}\n{text.rstrip()}\n```"


def page_names(names: list[str]) -> dict[str, str]:
    """Return names of files, which differ on disks that do not tell capitals from small letters."""
    taken = {name for name in names if name == name.lower()}
    return {name: f"{name}-class" if name.lower() in taken - {name} else name for name in names}


def named_pages(room: str, markdown: str) -> Iterator[tuple[str, str]]:
    """Yield a page for each name of a room."""
    found = {path.rpartition(".")[2]: (path, options) for path, options in NAMED.findall(markdown)}
    names = page_names(list(found))
    for name, (path, options) in found.items():
        options = options or "    options:\n"
        block = f"::: {path}\n{options}      heading_level: 1\n"
        yield names[name], f"---\ntitle: {name}\n---\n\n[unmix.{room}](../{room}.md)\n\n{block}"


def listed(room: str, markdown: str) -> str:
    """Return the page of a room with a table instead of all that is said of its names."""
    names = page_names([path.rpartition(".")[2] for path, _ in NAMED.findall(markdown)])

    def row(found: re.Match[str]) -> str:
        name = found[1].rpartition(".")[2]
        return f"| [`{name}`]({room}/{names[name]}.md) | {summary(found[1])} |\n"

    rows = NAMED.sub(row, markdown.rstrip() + "\n\n")
    return re.sub(r"(\n\n)(?=\| \[`)", r"\1| Name | What it is |\n|---|---|\n", rows)


def summary(path: str) -> str:
    """Return the first sentence that is written of a name."""
    text = _library()[path.removeprefix("unmix.")]
    text = text.final_target if text.is_alias else text
    first = text.docstring.value.partition("\n\n")[0] if text.docstring else ""
    return " ".join(first.split()).replace("|", "\\|")


_LOADED: list[Any] = []


def _library() -> Any:
    if not _LOADED:
        _LOADED.append(griffe.load("unmix", search_paths=["src"], resolve_aliases=True))
    return _LOADED[0]
