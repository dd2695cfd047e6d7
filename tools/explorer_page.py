"""Explorer page: `shadow explore` in a process of its own, and Debian's chromium to look at it.

Not for: what is looked at (explorer_pictures.py, bench/explorer.py), or tests, which have fixtures of their own.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def explorer(graph: str, runs: Sequence[str] = ()) -> Iterator[str]:
    """Serve a graph with runs, and return the address of the page."""
    given = [word for run in runs for word in ("--run", run)]
    command = [sys.executable, "-m", "shadow_gnn", "explore", graph, *given, "--port", "0", "--no-open", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        lines = list[str]()
        while "}\n" not in lines:
            lines.append(process.stdout.readline())
            if not lines[-1]:
                raise SystemExit("explorer: `shadow explore` ended before it answered")
        yield json.loads("".join(lines))["url"]
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def browser() -> Iterator[Any]:
    """Start chromium."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    if path is None:
        raise SystemExit("explorer: chromium must be installed; apt-get install chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


def wait(page: Any, test: str, seconds: float = 120) -> None:
    """Wait until an expression holds in the page; its security policy refuses playwright's own way to wait."""
    end = time.monotonic() + seconds
    while not page.evaluate(test):
        if time.monotonic() > end:
            raise SystemExit(f"explorer: the page was not ready after {seconds:.0f} s: {test}")
        page.wait_for_timeout(20)
