"""Use a wheel as its users will: a new environment, no compiler, a first training; then the tests against it.

Not for: what a wheel holds (check_wheels.py).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILERS = ("cc", "gcc", "g++", "c++", "clang", "clang++")
FIRST_RUN = ("--set", "training.num_epochs=1", "--set", "extractor.topk=20", "--set", "model.hidden_dim=16")


def main() -> None:
    """Install, train, predict, test; print how long it took from the installation to the first prediction."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dist", type=Path, help="folder with the wheels")
    parser.add_argument("--python", default=sys.executable, help="the Python to make the environment with")
    parser.add_argument("--torch", help="the version of torch; without it that of constraints.txt")
    parser.add_argument("--system", action="store_true", help="use torch and other packages of the system's Python")
    parser.add_argument("--tests", nargs="*", default=["tests"], help="what to test; nothing to train only")
    parser.add_argument("--jobs", default="auto", help="processes of the tests")
    parser.add_argument("--constraints", type=Path, default=ROOT / "constraints.txt", help="versions to install")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        bins = without_compiler(place)
        environment = {**os.environ, "PATH": str(bins), "CC": "none", "CXX": "none"}
        access = ["--system-site-packages"] if chosen.system else []
        subprocess.run([chosen.python, "-m", "venv", *access, place / "venv"], check=True)
        python = place / "venv" / "bin" / "python"
        install = [
            python,
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            "-c",
            constraints(place, chosen),
        ]
        if not chosen.system:
            subprocess.run([*install, "torch"], check=True, env=environment)
        begin, used = time.monotonic(), cpu_seconds()
        subprocess.run([*install, fitting_wheel(python, chosen.dist)], check=True, env=environment)
        shadow = place / "venv" / "bin" / "shadow"
        train = [shadow, "train", "debian", *FIRST_RUN, "--out", place / "run"]
        subprocess.run(train, check=True, env=environment, cwd=place, stdout=subprocess.DEVNULL)
        predict = [shadow, "predict", place / "run", "--targets", "test", "--out", place / "answers.csv"]
        subprocess.run(predict, check=True, env=environment, cwd=place, stdout=subprocess.DEVNULL)
        passed, used = time.monotonic() - begin, cpu_seconds() - used
        print(f"from pip install to the first predictions: {passed:.0f} s, {used:.0f} of the CPU (torch was there)")
        check_is_installed(python, place / "venv")
        if chosen.tests:
            subprocess.run([*install, *test_tools()], check=True, env=environment)
            tests = [python, "-m", "pytest", "-m", "not slow", "-n", chosen.jobs, "--dist", "worksteal", *chosen.tests]
            sys.exit(subprocess.run(tests, cwd=ROOT).returncode)


def cpu_seconds() -> float:
    """Return the CPU seconds of all processes that have ended; seconds of the clock depend on the neighbors."""
    ended = os.times()
    return ended.children_user + ended.children_system


def without_compiler(place: Path) -> Path:
    """Return a folder with links to all programs of the PATH but compilers."""
    bins = place / "bin"
    bins.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for program in sorted(Path(folder).glob("*")) if folder else ():
            if not program.name.startswith(COMPILERS) and not (bins / program.name).exists():
                (bins / program.name).symlink_to(program)
    return bins


def check_is_installed(python: Path, environment: Path) -> None:
    """End the program if the environment takes the package from the checkout."""
    code = "import shadow_gnn._core; print(shadow_gnn._core.__file__)"
    found = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()
    if not Path(found).is_relative_to(environment):
        sys.exit(f"{found}: must be below {environment}")


def constraints(place: Path, chosen: argparse.Namespace) -> Path:
    """Return the constraints to install with: those of a file, with another torch if one is asked for."""
    lines = chosen.constraints.read_text().splitlines()
    if chosen.torch or chosen.system:
        lines = [line for line in lines if not line.startswith("torch==")]
    if chosen.torch:
        lines.append(f"torch=={chosen.torch}")
    path = place / "constraints.txt"
    path.write_text("\n".join(lines))
    return path


def fitting_wheel(python: Path, dist: Path) -> Path:
    """Return the wheel for a Python: that of its version, otherwise the one of the stable ABI."""
    code = "import sys; print('cp%d%d' % sys.version_info[:2])"
    tag = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
    found = [*dist.glob(f"*-{tag}-{tag}-*.whl"), *dist.glob("*-abi3-*.whl")]
    if not found:
        sys.exit(f"{dist}: has no wheel for {tag}")
    return found[0].resolve()


def test_tools() -> list[str]:
    """Return what the tests need, as pyproject.toml lists it."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed: list[str] = project["optional-dependencies"]["test"]
    return needed


if __name__ == "__main__":
    main()
