"""Study sources: fetch what the graphs are built from with the clients of the package registries, as they are set up.

Not for: reading what was fetched. Everything is kept in a cache folder; a second build fetches nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from build_debian_graph import the_list


def apt_lists(cache: Path) -> Path:
    """Return a folder with the lists of the machine's Debian release: Packages, Sources and long descriptions."""
    lists = cache / "apt" / "lists"
    if the_list(lists, "*_main_source_Sources*") is None:
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        (cache / "apt" / "archives" / "partial").mkdir(parents=True, exist_ok=True)
        _write_apt_sources(cache / "apt" / "sources.list")
        _run(["apt-get", *_apt_options(cache), "-o", "Acquire::Languages=en", "update"])
    return lists


def apt_list(cache: Path, pattern: str) -> Path:
    """Return one of the lists, by a pattern of its file name."""
    found = the_list(apt_lists(cache), pattern)
    if found is None:
        sys.exit(f"{cache}: apt-get update gave no list {pattern}")
    return found


def debian_package(cache: Path, name: str) -> Path:
    """Return the folder of an unpacked Debian package; its file name, with the version, is in apt_version."""
    folder = cache / "deb" / name
    if not folder.exists():
        apt_lists(cache)
        folder.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as work:
            _run(["apt-get", *_apt_options(cache), "download", name], Path(work))
            archive = next(Path(work).glob("*.deb"))
            _run(["dpkg-deb", "--extract", str(archive), str(Path(work) / "files")])
            (Path(work) / "files" / "VERSION").write_text(archive.stem.replace("%3a", ":") + "\n")
            os.replace(Path(work) / "files", folder)
    return folder


def debian_archives(cache: Path, names: Sequence[str]) -> list[Path]:
    """Return the files of many Debian packages, in the order of names; a stopped download continues where it was."""
    folder = cache / "debs"
    apt_lists(cache)
    folder.mkdir(exist_ok=True)
    have = {path.name.partition("_")[0]: path for path in folder.glob("*.deb")}
    missing = [name for name in names if name not in have]

    def fetch(some: Sequence[str]) -> None:
        with tempfile.TemporaryDirectory(dir=folder) as work:
            _run(["apt-get", *_apt_options(cache), "download", *some], Path(work))
            for path in Path(work).glob("*.deb"):
                os.replace(path, folder / path.name)
                have[path.name.partition("_")[0]] = folder / path.name

    # Most of the time is waiting for one answer after the other.
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(fetch, [missing[at : at + 50] for at in range(0, len(missing), 50)]))
    return [have[name] for name in names]


def debian_files(archive: Path, ending: str) -> Iterator[tuple[str, bytes]]:
    """Give path and content of a package's files with this ending."""
    with (
        subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(archive)], stdout=subprocess.PIPE) as unpacking,
        tarfile.open(fileobj=unpacking.stdout, mode="r|") as files,
    ):
        for member in files:
            if member.isfile() and member.name.endswith(ending):
                stream = files.extractfile(member)
                assert stream is not None
                yield member.name.removeprefix("./"), stream.read()
    if unpacking.returncode != 0:
        sys.exit(f"{archive}: dpkg-deb cannot unpack it; remove it to have it fetched again")


def npm_package(cache: Path, name: str, version: str) -> Path:
    """Return the folder of an unpacked npm package."""
    folder = cache / "npm" / f"{name}-{version}"
    if not folder.exists():
        folder.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as work:
            _run(["npm", "pack", "--silent", f"{name}@{version}"], Path(work))
            with tarfile.open(next(Path(work).glob("*.tgz"))) as archive:
                archive.extractall(Path(work) / "files", filter="data")
            os.replace(Path(work) / "files" / "package", folder)
    return folder


def _apt_options(cache: Path) -> list[str]:
    """Return the options that keep apt's lists and downloads out of the machine's own folders."""
    folder = cache / "apt"
    return [
        *("-o", f"Dir::Etc::sourcelist={folder / 'sources.list'}"),
        *("-o", "Dir::Etc::sourceparts=/dev/null"),
        *("-o", f"Dir::State::lists={folder / 'lists'}"),
        *("-o", f"Dir::Cache={folder}"),
    ]


def _write_apt_sources(path: Path) -> None:
    """Name the machine's own mirror of the release, with its sources."""
    asked = ["apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)"]
    answer = _run([*asked, "Created-By: Packages", "Origin: Debian", "Component: main"])
    mirrors = [line.split() for line in answer.splitlines() if "-" not in line.split()[0]]
    if not mirrors:
        sys.exit("apt-get indextargets: names no Debian release; run apt-get update first")
    release, mirror = mirrors[0]
    option = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
    path.write_text("".join(f"{kind} {option} {mirror} {release} main\n" for kind in ("deb", "deb-src")))


def _run(words: list[str], folder: Path | None = None) -> str:
    """Run a client and return what it prints; a fault ends the build with the client's own words."""
    if shutil.which(words[0]) is None:
        sys.exit(f"{words[0]}: is needed to fetch the source of this graph and is not installed")
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout
