"""Links to the sections of a page: one beside each heading, and a list of all of them."""

import re

from markupsafe import Markup

FEWEST = 3  # sections that deserve a list
_HEADED = re.compile(r'(<section [^>]*?id="([\w-]+)"[^>]*>\s*<h2[^>]*>)(.*?)(</h2>)', re.DOTALL)
_ANSWER = re.compile(r'\s*<section class="verdict.*?</section>', re.DOTALL)


def linked(body: Markup) -> Markup:
    """Put a link beside the heading of each section, and a list of sections below the answer.

    >>> print(linked(Markup('<section id="fit"><h2>How</h2></section>')))
    <section id="fit"><h2>How <a class="anchor" href="#fit" aria-label="Link to How">#</a></h2></section>
    """
    text = _HEADED.sub(_with_link, str(body))
    answer = _ANSWER.match(text)
    end = 0 if answer is None else answer.end()
    return Markup(text[:end] + str(contents(body)) + text[end:])  # noqa: S704  a page of ours, texts escaped


def _with_link(found: re.Match[str]) -> str:
    start, anchor, words, end = found.groups()
    if anchor == "answer":
        return found[0]
    link = Markup('<a class="anchor" href="#{}" aria-label="Link to {}">#</a>').format(anchor, _plain(words))
    return f"{start}{words} {link}{end}"


def contents(body: Markup) -> Markup:
    """List the sections of a page, without the answer, which comes first anyway.

    >>> contents(Markup('<section id="fit"><h2>How it went</h2></section>'))
    Markup('')
    """
    headings = ((anchor, _plain(words)) for _, anchor, words, _ in _HEADED.findall(str(body)))
    found = [(anchor, words) for anchor, words in headings if anchor != "answer"]
    if len(found) < FEWEST:
        return Markup("")
    links = (Markup('<a href="#{}">{}</a>').format(anchor, words) for anchor, words in found)
    return Markup('<nav class="sections" aria-label="Sections">{}</nav>').format(Markup(" ").join(links))


def _plain(words: str) -> str:
    """Return the words of a heading without tags, and without what it says in small type."""
    return Markup(re.sub(r"<small.*?</small>", "", words, flags=re.DOTALL)).striptags()  # noqa: S704
