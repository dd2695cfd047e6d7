"""All fuzzers within a time budget: the core, the readers of files, and damaged graph folders; `make fuzz` runs this.

    python -m tests.fuzz.run --seconds 300

Tools that are missing are named in one line, and random inputs take their place.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.fuzz.kept import unpack

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "fuzz"
FAILED = ROOT / "failed-inputs"


def fuzz_core(seconds: int) -> int:
    """Let libFuzzer choose inputs of the core's own functions under sanitizers; return an exit code."""
    compiler = shutil.which("clang++")
    if compiler is None:
        print("clang++ is missing: the core is called with random arguments, not chosen by coverage", flush=True)
        return _run("-m", "tests.core.hostile_calls", "--seconds", str(seconds))
    unpack("core", BUILD / "core")
    FAILED.mkdir(exist_ok=True)
    program = BUILD / "core_fuzz"
    sanitizers = ["-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=undefined"]
    source = ["-std=c++17", "-O1", "-g", "-I", "core", "tests/fuzz/core_fuzz.cpp", "-o", str(program)]
    subprocess.run([compiler, *sanitizers, *source, "-lpthread", "-ldl"], cwd=ROOT, check=True)
    options = [f"-max_total_time={seconds}", "-max_len=400", "-timeout=20", "-verbosity=0", "-print_final_stats=1"]
    command = [str(program), str(BUILD / "core"), *options, f"-artifact_prefix={FAILED}/core-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    tried = [line.split()[-1] for line in done.stderr.splitlines() if "number_of_executed_units" in line]
    print(f"core: {int(tried[0]) if tried else 0:,} inputs chosen by coverage, exit code {done.returncode}", flush=True)
    if done.returncode:
        print("\n".join(done.stderr.splitlines()[-80:]), file=sys.stderr)
    return done.returncode


def _run(*arguments: str) -> int:
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, check=False).returncode


def main() -> None:
    """Give the core a quarter of the time, damaged folders an eighth, and the readers the rest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=300)
    seconds = max(8, parser.parse_args().seconds)
    codes = [
        fuzz_core(seconds // 4),
        _run("-m", "tests.fuzz.damaged_folders", "--seconds", str(seconds // 8), "--seed", str(os.getpid())),
        _run("-m", "tests.fuzz.fuzz_readers", "--seconds", str(5 * seconds // 8), "--found", str(BUILD)),
    ]
    sys.exit(int(any(codes)))


if __name__ == "__main__":
    main()
