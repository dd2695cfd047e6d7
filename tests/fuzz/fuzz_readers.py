"""Fuzz the readers of files: no input may end in anything but a result or a named error.

    python -m tests.fuzz.fuzz_readers --seconds 60 [--reader NAME] [--engine random]

With Atheris inputs are chosen by the coverage that they reach and new ones are kept in a folder; without it they are
random changes of good ones. An input that fails is written to `failed-inputs`, and `--replay FILE` repeats it.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from tests.fuzz.kept import kept_inputs, unpack
from tests.watched import FAULT, watch

FAILED = Path("failed-inputs")
LIMIT = 5.0
"""Seconds of CPU time that any input may take, with coverage measured."""
_MOST_BYTES = 1 << 16


def attempt(name: str, data: bytes, place: Path) -> str:
    """Let a reader use an input; return the kind of its end. Anything but a named error is raised."""
    from tests.fuzz.readers import READERS

    from shadow_gnn.base.errors import ShadowError

    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    begin = time.process_time()
    try:
        READERS[name].use(data, place)
        end = "used"
    except (ShadowError, ValueError, OSError, MemoryError) as error:
        if isinstance(error, UnicodeError):  # Names no file.
            raise
        end = type(error).__name__
    seconds = time.process_time() - begin
    if seconds > LIMIT:
        raise TimeoutError(f"{name}: an input must take at most {LIMIT} s, took {seconds:.1f}")
    return end


def inputs_of(name: str) -> list[bytes]:
    """Return the good inputs of a reader and the kept ones."""
    from tests.fuzz.readers import READERS

    return READERS[name].seeds() + kept_inputs(name)


def mutated(rng: random.Random, known: list[bytes]) -> bytes:
    """Change a known input in a few random places."""
    data = bytearray(rng.choice(known))
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at : at + 1] = bytes([rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])])
        elif kind == 2:
            del data[at : at + rng.choice([1, 2, 8, 99])]
        elif kind == 3:
            data[at:at] = rng.randbytes(rng.choice([1, 8, 40]))
        elif kind == 4:
            other = rng.choice(known)
            cut = rng.randrange(len(other) + 1)
            data[at : at + rng.randrange(40)] = other[cut : cut + rng.randrange(40)]
        else:
            number = rng.choice([-1, 0, 2**31, 2**32 - 1, 2**62, 2**63, 10**6])
            text = str(number).encode() if rng.random() < 0.5 else (number % 2**64).to_bytes(8, "little")
            data[at : at + len(text)] = text
    return bytes(data[:_MOST_BYTES])


def work(name: str, seed: int, seconds: float, numbers: range, tell: Callable[[int], None]) -> int:
    """Try the known inputs and random changes of them until the time or the numbers are over; return an exit code."""
    known, ends, stop = inputs_of(name), Counter[str](), time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            tell(number)
            data = known[number] if number < len(known) else mutated(random.Random(f"{seed} {number}"), known)
            try:
                ends[attempt(name, data, Path(folder) / "place")] += 1
            except BaseException:
                traceback.print_exc()
                print(f"{name}: input {number} of seed {seed} is {keep_failed(name, data)}", file=sys.stderr)
                return FAULT
            if time.monotonic() > stop:
                break
    print(f"{name}: {sum(ends.values()):,} random inputs: {', '.join(f'{end} {n:,}' for end, n in ends.most_common())}")
    return 0


def keep_failed(name: str, data: bytes) -> Path:
    """Write an input that failed."""
    FAILED.mkdir(exist_ok=True)
    path = FAILED / f"{name}-{abs(hash(data)):x}"
    path.write_bytes(data)
    return path


def guided(name: str, seconds: int, found: Path) -> int:
    """Let Atheris choose inputs in a process of its own; return its exit code."""
    unpack(name, found)
    FAILED.mkdir(exist_ok=True)
    options = [f"-max_total_time={seconds}", f"-max_len={_MOST_BYTES}", "-timeout=30", "-rss_limit_mb=4000"]
    options += [f"-artifact_prefix={FAILED}/{name}-", "-print_final_stats=1", "-verbosity=0"]
    command = [sys.executable, "-m", "tests.fuzz.fuzz_readers", "--guided", name, *options, str(found)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    tried = [line.split()[-1] for line in done.stderr.splitlines() if "number_of_executed_units" in line]
    print(f"{name}: {int(tried[0]) if tried else 0:,} inputs chosen by coverage, exit code {done.returncode}")
    if done.returncode:
        print("\n".join(done.stderr.splitlines()[-60:]), file=sys.stderr)
    return done.returncode


def _guided_process(name: str, arguments: list[str]) -> None:
    import atheris

    import shadow_gnn._core  # noqa: F401

    # Atheris instruments only what Python's own finder finds, not what that of an editable install does.
    sys.meta_path[:] = [finder for finder in sys.meta_path if "Redirecting" not in type(finder).__name__]
    with atheris.instrument_imports(include=["shadow_gnn"]):
        import tests.fuzz.readers as readers

    found = Path(next(argument for argument in arguments if not argument.startswith("-")))
    with tempfile.TemporaryDirectory() as folder:
        for number, data in enumerate(readers.READERS[name].seeds()):
            (found / f"seed-{number}").write_bytes(data)
            attempt(name, data, Path(folder) / "place")  # Imports what is imported late, before the clock starts.

        def use(data: bytes) -> None:  # libFuzzer takes a result for a rejection.
            attempt(name, data, Path(folder) / "place")

        atheris.Setup([sys.argv[0], *arguments], use)
        atheris.Fuzz()


def main() -> None:
    """Fuzz one reader or all, one after the other, within a time budget."""
    if "--guided" in sys.argv:
        _guided_process(sys.argv[2], sys.argv[3:])
        return
    from tests.fuzz.readers import READERS, SOUND, sound_files

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--inputs", type=int, default=1 << 62)
    parser.add_argument("--reader", choices=sorted(READERS))
    parser.add_argument("--engine", choices=["atheris", "random"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--replay", type=Path)
    parser.add_argument("--found", type=Path, default=Path("build") / "fuzz")
    options = parser.parse_args()
    names = [options.reader] if options.reader else list(READERS)
    if options.replay is not None:
        with tempfile.TemporaryDirectory() as folder:
            print(attempt(names[0], options.replay.read_bytes(), Path(folder) / "place"))
        return
    engine = options.engine or ("atheris" if find_spec("atheris") else "random")
    if engine == "random":
        print("atheris is not used: inputs are random changes of good ones, not chosen by coverage")
    os.environ[SOUND] = str(sound_files())  # Also for the processes of Atheris.
    share, failures = options.seconds / len(names), 0
    for name in names:
        if engine == "atheris":
            failures += guided(name, max(1, int(share)), options.found / name) != 0
        else:
            trial = partial(work, name, options.seed, share)
            failures += watch(f"{name}, seed {options.seed}, input", range(options.inputs), trial)
    sys.exit(min(failures, 1))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
