"""Run every benchmark one after the other and write docs/benchmarks.md.

Not for: measuring anything itself.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SCRIPTS = (
    "ppr",
    "induce",
    "khop",
    "threads",
    "scaling",
    "collate",
    "saint",
    "step",
    "epoch",
    "latency",
    "full_batch",
    "single",
)
RECORDED = ROOT / "docs" / "benchmarks-recorded.md"
HEAD = """# Benchmarks

Written by `make bench` (`python bench/run_all.py`): a script per claim in `bench/`, each side by side with its peer in
one run. CPU time counts all threads of the process; the peers run in turns with ours, and medians are shown.

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


def run(name: str, data: Path, quick: bool, sections: Path) -> bool:
    """Run one script; return whether all its bars are met."""
    command = [sys.executable, str(HERE / f"{name}.py"), "--data", str(data), "--markdown", str(sections)]
    print(f"== {name}", flush=True)
    return subprocess.run([*command, *(["--quick"] if quick else [])], check=False).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SHADOW_DATA", "../shared/data")))
    parser.add_argument(
        "--quick", action="store_true", help="few targets, to see that all scripts work; writes no docs"
    )
    parser.add_argument("--only", nargs="+", choices=SCRIPTS, default=SCRIPTS, help="scripts to run; writes no docs")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sections = Path(folder) / "sections.md"
        sections.touch()
        missed = [name for name in chosen.only if not run(name, chosen.data, chosen.quick, sections)]
        if not chosen.quick and tuple(chosen.only) == SCRIPTS:
            parts = [head(), sections.read_text(encoding="utf-8").rstrip()]
            parts += [RECORDED.read_text(encoding="utf-8").rstrip()] if RECORDED.is_file() else []
            (ROOT / "docs" / "benchmarks.md").write_text("\n\n".join(part.strip() for part in parts) + "\n")
    if missed:
        sys.exit(f"bars missed in: {', '.join(missed)}")


if __name__ == "__main__":
    main()
