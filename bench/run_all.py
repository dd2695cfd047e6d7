"""Run every benchmark one after the other and write docs/benchmarks.md.

Not for: measuring anything itself.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

from common import CACHE

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SCRIPTS = (
    *("ppr", "katz_heat", "induce", "khop", "extractors", "pair_scopes", "threads", "scaling", "seeds", "collate"),
    *("saint_sampling", "training_step", "epoch", "latency", "full_batch", "normal_inference", "learned"),
    *("diffuse", "generate", "ingest", "disk_reads", "prediction_order", "names", "startup", "serving", "dispatch"),
)
RECORDED = ROOT / "docs" / "benchmarks-recorded.md"
SECTIONS = CACHE / "sections"
HEAD = """# Benchmarks

Written by `make bench` (`python bench/run_all.py`). Each claim has a script in `bench/` that measures it and its peers
in one run, in turns. CPU time counts all threads of the process; the tables show medians. To measure a section again,
use `--only`.

Machine: {machine}. Python {python}, NumPy {numpy}, SciPy {scipy}, torch {torch}, torch_geometric {pyg}.
"""


def machine() -> str:
    """Describe the processor, without a date or a name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} cores"


def head() -> str:
    from importlib.metadata import version

    names = {"numpy": "numpy", "scipy": "scipy", "torch": "torch", "pyg": "torch_geometric"}
    versions = {key: version(name) for key, name in names.items()}
    return HEAD.format(machine=machine(), python=platform.python_version(), **versions)


def run(name: str, data: Path, quick: bool) -> bool:
    """Run one script and keep its section; return whether all its bars are met."""
    print(f"== {name}", flush=True)
    command = [sys.executable, str(HERE / f"{name}.py"), "--data", str(data)]
    if quick:
        return subprocess.run([*command, "--quick"], check=False).returncode == 0
    SECTIONS.mkdir(parents=True, exist_ok=True)
    section = SECTIONS / f"{name}.md"
    section.unlink(missing_ok=True)
    return subprocess.run([*command, "--markdown", str(section)], check=False).returncode == 0


def write_docs() -> None:
    """Join the sections of all scripts, the newest of each, unless one was never run."""
    paths = [*(SECTIONS / f"{name}.md" for name in SCRIPTS), RECORDED]
    if all(path.is_file() for path in paths):
        parts = [head(), *(path.read_text(encoding="utf-8") for path in paths)]
        text = "\n\n".join(part.strip() for part in parts) + "\n"
        (ROOT / "docs" / "benchmarks.md").write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SHADOW_NPZ", "../shared/data")))
    parser.add_argument(
        "--quick", action="store_true", help="few targets, to see that all scripts work; writes no docs"
    )
    parser.add_argument("--only", nargs="+", choices=SCRIPTS, default=SCRIPTS, help="scripts to run")
    chosen = parser.parse_args()
    missed = [name for name in chosen.only if not run(name, chosen.data, chosen.quick)]
    if not chosen.quick:
        write_docs()
    if missed:
        sys.exit(f"bars missed in: {', '.join(missed)}")


if __name__ == "__main__":
    main()
