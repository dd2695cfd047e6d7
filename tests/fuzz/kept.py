"""The kept inputs of the fuzzers, in one archive: small ones that together reach what is known to be reached.

    python -m tests.fuzz.kept build/fuzz

packs the inputs that a run has found anew, at most 40 of each target.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

ARCHIVE = Path(__file__).parent / "corpus.zip"
_MOST, _MOST_BYTES = 40, 4096


def kept_inputs(target: str) -> list[bytes]:
    """Return the kept inputs of a target."""
    if not ARCHIVE.exists():
        return []
    with zipfile.ZipFile(ARCHIVE) as archive:
        names = [name for name in archive.namelist() if name.startswith(f"{target}/")]
        return [archive.read(name) for name in sorted(names)]


def unpack(target: str, folder: Path) -> None:
    """Write the kept inputs of a target into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(kept_inputs(target)):
        (folder / f"kept-{number}").write_bytes(data)


def pack(found: Path) -> None:
    """Write the archive from folders of inputs, one for each target; those that are spread evenly by size are taken."""
    with zipfile.ZipFile(ARCHIVE, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder in sorted(path for path in found.iterdir() if path.is_dir()):
            small = sorted({path.read_bytes() for path in folder.iterdir()}, key=lambda data: (len(data), data))
            small = [data for data in small if len(data) <= _MOST_BYTES]
            for number in range(min(_MOST, len(small))):
                data = small[number * len(small) // min(_MOST, len(small))]
                archive.writestr(zipfile.ZipInfo(f"{folder.name}/{number:02}"), data)


if __name__ == "__main__":
    pack(Path(sys.argv[1]))
