"""Check what a release holds: names, sizes, contents, the stable ABI, metadata.

Not for: building (make wheels) or using the wheel (try_wheel.py).
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

MOST_BYTES = 5_000_000
MOST_SCRIPT_BYTES = 100_000
SHIPPED = (
    "shadow_gnn/py.typed",
    "shadow_gnn/_core.pyi",
    "shadow_gnn/graph/datasets/debian.npz",
    "shadow_gnn/recipe/paper/ogbn-arxiv-sage-5-ppr.toml",
    "shadow_gnn/recipe/ready/debian.toml",
    "shadow_gnn/explore/static/index.html",
    "shadow_gnn/explore/static/cytoscape.js",
    "dist-info/licenses/LICENSE",
    "dist-info/licenses/src/shadow_gnn/explore/static/cytoscape.LICENSE.txt",
    "dist-info/entry_points.txt",
)
NEEDED_TO_BUILD = ("CMakeLists.txt", "core/module.cpp", "pyproject.toml", "LICENSE", "README.md")


def main(folder: Path) -> None:
    """Check all files of a folder; the first fault ends the program with one line."""
    wheels, archives = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if not wheels or len(archives) != 1:
        sys.exit(f"{folder}: must hold wheels and one source archive, got {len(wheels)} and {len(archives)}")
    for wheel in wheels:
        check_wheel(wheel)
    check_archive(archives[0])
    run("twine", "check", "--strict", *map(str, (*wheels, *archives)))
    run("check_wheel_contents", *map(str, wheels))
    run("pyroma", "--min", "10", str(archives[0]))
    print(f"{len(wheels) + 1} files are sound: " + ", ".join(f"{path.name} ({size_of(path)})" for path in wheels))


def size_of(path: Path) -> str:
    """Return the size of a file for people."""
    return f"{path.stat().st_size / 1e6:.2f} MB"


def check_wheel(wheel: Path) -> None:
    """Check size, platform, contents and, for a wheel of several Pythons, that its binary keeps to the stable ABI."""
    if wheel.stat().st_size > MOST_BYTES:
        sys.exit(f"{wheel.name}: must have at most {MOST_BYTES:,} bytes, got {wheel.stat().st_size:,}")
    if "-linux_" in wheel.name:
        sys.exit(f"{wheel.name}: must be a manylinux wheel")
    names = zipfile.ZipFile(wheel).namelist()
    missing = [shipped for shipped in SHIPPED if not any(name.endswith(shipped) for name in names)]
    if missing:
        sys.exit(f"{wheel.name}: lacks {', '.join(missing)}")
    check_vendored(wheel, {entry.filename: entry.file_size for entry in zipfile.ZipFile(wheel).infolist()})
    if "-abi3-" in wheel.name:
        run("abi3audit", "--strict", str(wheel))


def check_vendored(wheel: Path, sizes: dict[str, int]) -> None:
    """Check that a script too large to be our own comes with its authors' license: x.js, licenses/.../x.LICENSE.txt."""
    for name, size in sizes.items():
        license_of = f"{PurePosixPath(name).stem}.LICENSE"
        if (
            name.endswith(".js")
            and size > MOST_SCRIPT_BYTES
            and not any(".dist-info/licenses/" in other and license_of in other for other in sizes)
        ):
            sys.exit(f"{wheel.name}: lacks the license of {name}")


def check_archive(archive: Path) -> None:
    """Check that the source archive has what a build needs and no tests or docs."""
    with tarfile.open(archive) as opened:
        names = [name.partition("/")[2] for name in opened.getnames()]
    missing = [needed for needed in NEEDED_TO_BUILD if needed not in names]
    surplus = [name for name in names if name.startswith(("tests/", "docs/", "bench/"))]
    if missing or surplus:
        sys.exit(f"{archive.name}: lacks {missing}, has {surplus[:3]} too many")


def run(module: str, *arguments: str) -> None:
    """Run a checker; show its words and end if it finds a fault."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{module}: {done.stdout}{done.stderr}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
