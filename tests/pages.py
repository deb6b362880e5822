"""HTML pages as tests read them."""

from html.parser import HTMLParser

from unmix.report._write import script_of


def without_ours(html):
    """Return a page without the script that every page has, word for word, where its policy allows that."""
    ours = script_of("page")
    assert f"'sha256-{ours['digest']}'" in html
    return html.replace(f"<script>{ours['text']}</script>", "")


class Page(HTMLParser):
    """Collects tags, attributes and texts, and the tags that were left open; our own script apart."""

    VOID = frozenset({"meta", "br", "img", "wbr"})

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open = [], [], [], []
        self.feed(without_ours(html) if "<script" in html else html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *attribute) for attribute in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())
