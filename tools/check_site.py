"""Check the built site: every local link and anchor leads somewhere, and no page needs a network to work.

Not for: addresses of other sites.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src"}


class Page(HTMLParser):
    """Links, anchors and loaded files of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what a tag names."""
        found = {name: value for name, value in attrs if value is not None}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in LOADED and LOADED[tag] in found and found.get("rel") not in ("canonical", "index", "search", "next"):
            self.loaded.append(found[LOADED[tag]])


@cache
def read(path: Path) -> Page:
    """Read a page once."""
    return Page(path)


def faults(root: Path) -> list[str]:
    """Return a line for each link without an end and each file that another site would have to send."""
    wrong = []
    for path in sorted(root.rglob("*.html")):
        name = path.relative_to(root)
        wrong += [f"{name}: loads {link}" for link in read(path).loaded if urlsplit(link).netloc]
        for link in [*read(path).links, *read(path).loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                wrong.append(f"{name}: {link} leads nowhere")
            elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in read(target).anchors:
                wrong.append(f"{name}: {link} has no such anchor")
    if not (root / "searchindex.js").is_file():
        wrong.append("searchindex.js: is missing, so the search does not work")
    return wrong


def main(root: Path) -> None:
    """Print all faults; exit 1 if there are any."""
    wrong = faults(root)
    print("\n".join(wrong) or f"{root}: {len(list(root.rglob('*.html')))} pages, every local link leads somewhere")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
