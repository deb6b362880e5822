"""Check a built site: python tools/links.py site.

Every link of every page leads to a file of the site and to a heading that is there, every picture exists, and
no page asks anything of a network. Links to other sites are not followed.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {
    "img": "src",
    "script": "src",
    "iframe": "src",
    "link": "href",
}  # what a browser asks for by itself
TOLD = ("canonical", "alternate", "next", "prev")  # links that say something and fetch nothing


class Reader(HTMLParser):
    """Gather the places a page names, those it leads to, and what it fetches."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at one element."""
        held = {name: value or "" for name, value in attrs}
        self.anchors |= {held[name] for name in ("id", "name") if name in held}
        if tag == "a" and "href" in held:
            self.links.append(held["href"])
        if tag in FETCHED and FETCHED[tag] in held and held.get("rel") not in TOLD:
            self.fetched.append(held[FETCHED[tag]])


def faults(site: Path) -> list[str]:
    """Return a line for every link that leads nowhere, and for whatever a page would ask of a network."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}
    found = []
    for path, page in pages.items():
        here = path.relative_to(site)
        found += [f"{here}: fetches {each}" for each in page.fetched if urlsplit(each).netloc]
        for link in (*page.links, *page.fetched):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            if not target.is_file():
                found.append(f"{here}: no file for {link}")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{here}: no heading for {link}")
    return found


def _read(path: Path) -> Reader:
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader


if __name__ == "__main__":
    said = faults(Path(sys.argv[1]).resolve())
    sys.exit("\n".join([*said[:40], f"{len(said)} faults"]) if said else 0)
