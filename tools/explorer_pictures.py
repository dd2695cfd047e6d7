"""Make the pictures of docs/exploring.md and of the README: five states of the explorer on the built-in graph.

Not for: tests of the page (tests/explore/browser), or pictures of scopes without a browser (shadow draw).

    shadow train recipes/debian.toml --out runs/sage
    shadow train recipes/debian.toml --set model.layer=gin --set extractor.topk=30 --out runs/gin
    python tools/explorer_pictures.py runs/sage runs/gin
"""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from explorer_page import browser, explorer, wait

DOCS = Path(__file__).resolve().parent.parent / "docs"
TARGET = "gimp"
READY = (
    "globalThis.explorer?.state.view === 'split' ? document.querySelector('.confusion') !== null"
    " : performance.getEntriesByName('first page').length > 0"
)
MOST_BYTES = 300_000


def states(first: str, second: str) -> dict[str, tuple[dict[str, str], str | None, str]]:
    """Return the address, the tab and the color scheme of each picture."""
    removed = json.dumps([["remove_nodes", "libgegl-0.4-0"], ["remove_nodes", "gimp-plugin-registry"]])
    whole = {"view": "split", "run": first, "split": "test", "node": TARGET, "pick": json.dumps({"by": "wrong"})}
    return {
        "explorer": ({"node": TARGET, "run": first}, None, "light"),
        "explorer-why": ({"node": TARGET, "run": first, "color": "why"}, "why", "light"),
        "explorer-compare": ({"node": TARGET, "run": first, "sides": "2", "run2": second}, None, "light"),
        "explorer-what-if": ({"node": TARGET, "run": first, "edits": removed}, None, "light"),
        "explorer-split": (whole, None, "dark"),
    }


def photograph(chromium: Any, url: str, name: str, state: tuple[dict[str, str], str | None, str]) -> None:
    """Write one picture, with 256 colors to keep it small."""
    from PIL import Image

    words, tab, scheme = state
    context = chromium.new_context(
        viewport={"width": 1280, "height": 800}, device_scale_factor=1.5, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(f"{url}#{urlencode(words)}")
    wait(page, READY, 600)
    if tab is not None:
        page.locator(f"#tab-{tab}").click()
    if "pick" in words:
        wait(page, "document.querySelectorAll('.picked').length > 0", 600)
    page.wait_for_timeout(500)
    whole = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = DOCS / f"{name}.png"
    whole.quantize(256, method=Image.Quantize.MEDIANCUT, kmeans=2, dither=Image.Dither.NONE).save(path, optimize=True)
    if path.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{path}: must have at most {MOST_BYTES:,} bytes, got {path.stat().st_size:,}")
    print(f"{path.name}: {path.stat().st_size:,} bytes")
    context.close()


def main() -> None:
    """Photograph every state."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs=2, help="folders of two runs on the built-in graph")
    parser.add_argument("--only", nargs="+", help="names of pictures")
    given = parser.parse_args()
    first, second = (Path(run).resolve().name for run in given.runs)
    with explorer("debian", given.runs) as url, browser() as chromium:
        for name, state in states(first, second).items():
            if given.only is None or name in given.only:
                photograph(chromium, url, name, state)


if __name__ == "__main__":
    main()
